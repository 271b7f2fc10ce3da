import type { Handler } from '../../http/handler.ts';
import { sendDocsFile } from './send-docs-file.ts';

export const getHomePage: Handler<'getHomePage'> = (request, reply) =>
  sendDocsFile(request, reply, 'home.html');
