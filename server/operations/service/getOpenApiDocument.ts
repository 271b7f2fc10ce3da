import { documentsAt } from '../../http/contract-documents.ts';
import type { Handler } from '../../http/handler.ts';

/** Returns the contract, which names the address of the request as its server. */
export const getOpenApiDocument: Handler<'getOpenApiDocument'> = ({ baseUrl }, reply) => {
  reply.bytes(200, 'application/json', documentsAt.openapi(baseUrl));
};
