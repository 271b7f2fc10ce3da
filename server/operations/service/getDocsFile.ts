import type { Handler } from '../../http/handler.ts';
import { sendDocsFile } from './send-docs-file.ts';

export const getDocsFile: Handler<'getDocsFile'> = (request, reply) =>
  sendDocsFile(request, reply, request.path.file);
