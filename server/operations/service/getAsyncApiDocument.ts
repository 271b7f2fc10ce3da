import type { Handler } from '../../http/handler.ts';
import { contractDocuments } from './contract-documents.ts';

export const getAsyncApiDocument: Handler<'getAsyncApiDocument'> = (_request, reply) => {
  reply.bytes(200, 'application/json', contractDocuments.asyncapi);
};
