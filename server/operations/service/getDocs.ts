import type { Handler } from '../../http/handler.ts';
import { sendSiteFile } from './send-site-file.ts';

export const getDocs: Handler<'getDocs'> = (request, reply) =>
  sendSiteFile(request, reply, 'docs', 'index.html');
