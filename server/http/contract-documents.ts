import { readFileSync } from 'node:fs';

type DocumentName = 'openapi' | 'asyncapi';

const documents = new Map<DocumentName, Buffer>();

/** Returns the bytes of a bundle, as they are served. It is read once, at its first use. */
function readDocument(name: DocumentName): Buffer {
  return documents.getOrInsertComputed(name, () =>
    readFileSync(new URL(`../../generated/${name}.json`, import.meta.url)),
  );
}

/** The contract for a client at a base URL, which the documents name as their server. Without one, the bundles themselves. */
export const documentsAt = {
  openapi: (baseUrl: string | undefined) =>
    baseUrl === undefined
      ? readDocument('openapi')
      : withServers('openapi', [{ url: baseUrl, description: 'This gateway.' }]),
  asyncapi(baseUrl: string | undefined) {
    if (baseUrl === undefined) return readDocument('asyncapi');
    const { host, protocol, pathname } = new URL(baseUrl);
    const isSecure = protocol === 'https:';
    const at = { host, ...(pathname !== '/' && { pathname }) };
    const { servers } = JSON.parse(readDocument('asyncapi').toString('utf8')) as { servers: Servers };
    return withServers('asyncapi', {
      ...servers,
      gatewaySocket: { ...servers.gatewaySocket, ...at, protocol: isSecure ? 'wss' : 'ws' },
      gateway: { ...servers.gateway, ...at, protocol: isSecure ? 'https' : 'http' },
    });
  },
};

type Servers = Record<'gatewaySocket' | 'gateway', object>;

const aroundServers = new Map<DocumentName, readonly string[]>();

/** Returns a document with other servers. Only the text around them is cached, because a client selects its host. */
function withServers(name: DocumentName, servers: object): string {
  let around = aroundServers.get(name);
  if (around === undefined) {
    const bundle = JSON.parse(readDocument(name).toString('utf8')) as object;
    const marker = '@servers@';
    around = JSON.stringify({ ...bundle, servers: marker }).split(JSON.stringify(marker));
    aroundServers.set(name, around);
  }
  return around.join(JSON.stringify(servers));
}

let parsed: object | undefined;

/** Returns the parsed OpenAPI bundle. All callers share one object, which must not be changed. */
export function openApiBundle(): object {
  parsed ??= JSON.parse(readDocument('openapi').toString('utf8')) as object;
  return parsed;
}
