import { contractDocuments } from '../../http/contract-documents.ts';
import type { Handler } from '../../http/handler.ts';

/** The documents by public URL. */
const documents = new Map<string, string>();

/** Returns the contract. With a configured public URL, the document names it as its server. */
export const getOpenApiDocument: Handler<'getOpenApiDocument'> = ({ gateway }, reply) => {
  const { publicUrl } = gateway.settings;
  const body = publicUrl === undefined ? contractDocuments.openapi : documentAt(publicUrl);
  reply.bytes(200, 'application/json', body);
};

function documentAt(url: string): string {
  let document = documents.get(url);
  if (document === undefined) {
    const bundle = JSON.parse(contractDocuments.openapi.toString('utf8')) as Record<string, unknown>;
    document = JSON.stringify({ ...bundle, servers: [{ url, description: 'This gateway.' }] });
    documents.set(url, document);
  }
  return document;
}
