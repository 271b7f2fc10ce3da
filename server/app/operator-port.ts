import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { nodeHttp } from '../lib/node-http.ts';
import { SettingsError } from '../settings/settings-error.ts';
import type { TextFormat } from '../telemetry/exposition.ts';

export interface OperatorPort {
  /** Address without a trailing slash. */
  url: string;
  close(): Promise<void>;
}

export interface OperatorResponses {
  metrics(format: TextFormat): Promise<string>;
  /** Rejects with the reason when the gateway is not ready. */
  ready(): Promise<void>;
}

const contentTypes: Readonly<Record<TextFormat, string>> = {
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
};

const requestTimeoutMs = 10_000;

/**
 * Serves `/metrics`, `/healthz` and `/readyz` without authentication, for the operator.
 *
 * @throws SettingsError when it cannot listen on the address
 */
export async function openOperatorPort(
  { host, port }: { host: string; port: number },
  responses: OperatorResponses,
): Promise<OperatorPort> {
  const timeouts = { requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs };
  const server = nodeHttp.createServer(timeouts, (request, response) => {
    respond(request, response, responses).catch(() => response.destroy());
  });
  server.listen(port, host);
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === 'EADDRINUSE' ? 'the address is in use' : `cannot listen: ${cause.message}`;
    throw new SettingsError(`METRICS_HOST and METRICS_PORT, ${host} and ${port}: ${reason}.`, { cause });
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  { metrics, ready }: OperatorResponses,
): Promise<void> {
  const send = (status: number, type: string, text: string) => {
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
    response.end(request.method === 'HEAD' ? undefined : text);
  };
  const json = (status: number, body: object) => send(status, 'application/json', JSON.stringify(body));
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    json(405, { status: 'method not allowed' });
    return;
  }
  switch (request.url?.split('?', 1)[0]) {
    case '/metrics': {
      const format = acceptedFormat(request.headers.accept);
      return send(200, contentTypes[format], await metrics(format));
    }
    case '/healthz':
      return json(200, { status: 'ok' });
    case '/readyz': {
      const reason = await reasonOf(ready());
      return reason === undefined
        ? json(200, { status: 'ok' })
        : json(503, { status: 'unavailable', reason });
    }
    default:
      return json(404, { status: 'not found' });
  }
}

/**
 * Returns the format that an `accept` header prefers. OpenMetrics only if it is named with version 1.0.0 or without a
 * version, because everything reads the older format.
 */
export function acceptedFormat(accept = ''): TextFormat {
  const qualities = { openmetrics: 0, prometheus: 0 };
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const valueOf = (name: string) =>
      parameters.find((parameter) => parameter.startsWith(`${name}=`))?.slice(name.length + 1);
    const quality = Number(valueOf('q') ?? 1);
    if (type === 'application/openmetrics-text' && (valueOf('version') ?? '1.0.0') === '1.0.0')
      qualities.openmetrics = Math.max(qualities.openmetrics, quality);
    if (type === 'text/plain') qualities.prometheus = Math.max(qualities.prometheus, quality);
  }
  return qualities.openmetrics > 0 && qualities.openmetrics >= qualities.prometheus
    ? 'openmetrics'
    : 'prometheus';
}

/** Returns why a readiness check fails. Undefined if it succeeds. */
export async function reasonOf(readiness: Promise<void>): Promise<string | undefined> {
  return readiness.then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : 'not ready'),
  );
}
