import { contractDocuments } from '../../http/contract-documents.ts';
import type { Handler } from '../../http/handler.ts';

export const getAsyncApiDocument: Handler<'getAsyncApiDocument'> = (_request, reply) => {
  reply.bytes(200, 'application/json', contractDocuments.asyncapi);
};
