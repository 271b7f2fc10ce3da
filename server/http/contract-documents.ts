import { readFileSync } from 'node:fs';

/** The bytes of both bundles, as they are served. */
const contractDocuments = {
  openapi: readFileSync(new URL('../../generated/openapi.json', import.meta.url)),
  asyncapi: readFileSync(new URL('../../generated/asyncapi.json', import.meta.url)),
};

/** The contract for a client at a base URL, which the documents name as their server. Without one, the bundles themselves. */
export const documentsAt = {
  openapi: (baseUrl: string | undefined) =>
    baseUrl === undefined
      ? contractDocuments.openapi
      : withServers('openapi', [{ url: baseUrl, description: 'This gateway.' }]),
  asyncapi(baseUrl: string | undefined) {
    if (baseUrl === undefined) return contractDocuments.asyncapi;
    const { host, protocol, pathname } = new URL(baseUrl);
    const isSecure = protocol === 'https:';
    const at = { host, ...(pathname !== '/' && { pathname }) };
    const { servers } = JSON.parse(contractDocuments.asyncapi.toString('utf8')) as { servers: Servers };
    return withServers('asyncapi', {
      ...servers,
      gatewaySocket: { ...servers.gatewaySocket, ...at, protocol: isSecure ? 'wss' : 'ws' },
      gateway: { ...servers.gateway, ...at, protocol: isSecure ? 'https' : 'http' },
    });
  },
};

type Servers = Record<'gatewaySocket' | 'gateway', object>;

const aroundServers = new Map<string, readonly string[]>();

/** Returns a document with other servers. Only the text around them is cached, because a client selects its host. */
function withServers(name: keyof typeof contractDocuments, servers: object): string {
  let around = aroundServers.get(name);
  if (around === undefined) {
    const bundle = JSON.parse(contractDocuments[name].toString('utf8')) as object;
    const marker = '@servers@';
    around = JSON.stringify({ ...bundle, servers: marker }).split(JSON.stringify(marker));
    aroundServers.set(name, around);
  }
  return around.join(JSON.stringify(servers));
}

let parsed: object | undefined;

/** Returns the parsed OpenAPI bundle. All callers share one object, which must not be changed. */
export function openApiBundle(): object {
  parsed ??= JSON.parse(contractDocuments.openapi.toString('utf8')) as object;
  return parsed;
}
