import type { Handler } from '../../http/handler.ts';
import { sendSiteFile } from './send-site-file.ts';

export const getConsole: Handler<'getConsole'> = (request, reply) =>
  sendSiteFile(request, reply, 'console', 'index.html');
