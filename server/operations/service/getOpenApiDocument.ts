import type { Handler } from '../../http/handler.ts';
import { contractDocuments } from './contract-documents.ts';

export const getOpenApiDocument: Handler<'getOpenApiDocument'> = (_request, reply) => {
  reply.bytes(200, 'application/json', contractDocuments.openapi);
};
