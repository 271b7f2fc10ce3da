import type { Handler } from '../../http/handler.ts';
import { sendSiteFile } from './send-site-file.ts';

export const getConsoleFile: Handler<'getConsoleFile'> = (request, reply) =>
  sendSiteFile(request, reply, 'console', request.path.file);
