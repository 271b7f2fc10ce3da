import type { Handler } from '../../http/handler.ts';
import { sendSiteFile } from './send-site-file.ts';

export const getHomePage: Handler<'getHomePage'> = (request, reply) =>
  sendSiteFile(request, reply, 'docs', 'home.html');
