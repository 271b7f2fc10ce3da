import { contractDocuments } from '../../http/contract-documents.ts';
import type { Handler } from '../../http/handler.ts';

const published = new Map<string, string>();

/** The bundle; where the operator names a public address, clients that generate from it get that one. */
export const getOpenApiDocument: Handler<'getOpenApiDocument'> = ({ gateway }, reply) => {
  const { publicUrl } = gateway.settings;
  reply.bytes(
    200,
    'application/json',
    publicUrl === undefined ? contractDocuments.openapi : publishedAt(publicUrl),
  );
};

function publishedAt(url: string): string {
  let document = published.get(url);
  if (document === undefined) {
    const bundle = JSON.parse(contractDocuments.openapi.toString('utf8')) as Record<string, unknown>;
    document = JSON.stringify({ ...bundle, servers: [{ url, description: 'This gateway.' }] });
    published.set(url, document);
  }
  return document;
}
