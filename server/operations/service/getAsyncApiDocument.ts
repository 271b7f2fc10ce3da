import { documentsAt } from '../../http/contract-documents.ts';
import type { Handler } from '../../http/handler.ts';

/** Returns the events, which name the address of the request as their server. */
export const getAsyncApiDocument: Handler<'getAsyncApiDocument'> = ({ baseUrl }, reply) => {
  reply.bytes(200, 'application/json', documentsAt.asyncapi(baseUrl));
};
