import type { Handler } from '../../http/handler.ts';
import { sendSiteFile } from './send-site-file.ts';

export const getDocsFile: Handler<'getDocsFile'> = (request, reply) =>
  sendSiteFile(request, reply, 'docs', request.path.file);
