import type { Handler } from '../../http/handler.ts';
import { sendDocsFile } from './send-docs-file.ts';

export const getDocs: Handler<'getDocs'> = (request, reply) => sendDocsFile(request, reply, 'docs.html');
