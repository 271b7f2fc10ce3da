import { readFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  request as open,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createLogger } from '@stoplight/prism-core';
import { getHttpOperationsFromSpec } from '@stoplight/prism-http';
import { createServer as createPrism } from '@stoplight/prism-http-server';
import { operationIds, operations } from '../../generated/operations.ts';
import { takeAliases } from '../../server/http/route.ts';
import { findRoute } from '../../server/http/routes.ts';
import { systemTimers } from '../../server/timers.ts';
import { acceptSockets, opensSocket } from './mock-sockets/accept.ts';

const bundle = new URL('../../generated/openapi.json', import.meta.url);
/** Without being told, Prism reads the schemas as draft 7 and overlooks or mistakes newer keywords. */
const jsonSchemaDialect = 'https://json-schema.org/draft/2020-12/schema';

/** Paths that answer 101 to a socket; a plain request to one is refused with 426. */
const socketPaths: ReadonlySet<string> = new Set(
  operationIds
    .map((id) => operations[id])
    .filter(({ statuses }) => statuses.some((status) => status === 101))
    .flatMap(({ path, aliases }) => [path, ...aliases]),
);

export interface Mock {
  /** Address it listens on, without a slash at the end. */
  url: string;
  server: Server;
  close(): Promise<void>;
}

/**
 * Serves the OpenAPI document with Prism, and the sockets of the AsyncAPI document. The server in front of both owns
 * the port.
 */
export async function startMock({ host = '127.0.0.1', port = 0, timers = systemTimers } = {}): Promise<Mock> {
  const document = { ...(JSON.parse(readFileSync(bundle, 'utf8')) as object), jsonSchemaDialect };
  const prism = createPrism(await getHttpOperationsFromSpec(document), {
    cors: true,
    config: {
      isProxy: false,
      checkSecurity: true,
      validateRequest: true,
      // What it sends are the contract's own examples, which the tests hold to their schemas.
      validateResponse: false,
      errors: false,
      upstreamProxy: undefined,
      mock: { dynamic: false },
    },
    components: { logger: createLogger('mock', { level: 'silent' }) },
  });
  const behind = Number(new URL(await prism.listen(0, '127.0.0.1')).port);
  const server = createServer({ shouldUpgradeCallback: opensSocket }, (request, response) => {
    pass(request, response, behind).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  const closeSockets = acceptSockets(server, timers);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
  } catch (error) {
    await prism.close();
    throw error;
  }
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the mock has no port');
  const name = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${name}:${address.port}`,
    server,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      closeSockets();
      await closed;
      await prism.close();
    },
  };
}

/** Passes a request on to Prism, mended where Prism would hang or break off instead of answering. */
async function pass(request: IncomingMessage, response: ServerResponse, port: number): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = readable(request, Buffer.concat(chunks));
  const headers = { ...request.headers };
  delete headers['transfer-encoding'];
  if (body.length > 0 || headers['content-length'] !== undefined)
    headers['content-length'] = String(body.length);
  const path = request.url ?? '/';
  const [plainPath = ''] = path.split('?', 1);
  if (socketPaths.has(plainPath) && headers.prefer === undefined) headers.prefer = 'code=426';
  // Prism knows nothing of other names.
  const operation = findRoute(plainPath)?.methods.get((request.method ?? '').toLowerCase())?.operation;
  takeAliases(headers, operation?.headerAliases);
  const upstream = open({ port, host: '127.0.0.1', method: request.method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  upstream.on('error', (error) => response.destroy(error));
  upstream.end(body);
}

/** Prism never answers JSON that it cannot read; to `null` it answers the documented 400. */
function readable(request: IncomingMessage, body: Buffer): Buffer {
  if (!/^application\/(.+\+)?json\b/i.test(request.headers['content-type'] ?? '')) return body;
  try {
    JSON.parse(body.toString('utf8'));
    return body;
  } catch {
    return Buffer.from('null');
  }
}
