import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SettingsError } from '../settings/settings-error.ts';

export interface OperatorPort {
  /** Address it listens on, without a slash at the end. */
  url: string;
  close(): Promise<void>;
}

/** What the port tells. */
export interface OperatorAnswers {
  metrics(): Promise<string>;
  /** Rejects when the gateway is not ready; the reason is told. */
  ready(): Promise<void>;
}

/** What the metrics are written in. */
const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8';
/** The older form that they can be read as, too, by those who do not ask for the newer one. */
const plainType = 'text/plain; version=0.0.4; charset=utf-8';

/** Longest time for a request to come, in milliseconds. */
const patience = 10_000;

/**
 * Serves `/metrics`, `/healthz` and `/readyz` without a key, for machines of the operator.
 *
 * @throws SettingsError when it cannot listen there.
 */
export async function openOperatorPort(
  { host, port }: { host: string; port: number },
  answers: OperatorAnswers,
): Promise<OperatorPort> {
  const server = createServer({ requestTimeout: patience, headersTimeout: patience }, (request, response) => {
    answer(request, response, answers).catch(() => response.destroy());
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

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { metrics, ready }: OperatorAnswers,
): Promise<void> {
  const say = (status: number, type: string, text: string) => {
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
    response.end(request.method === 'HEAD' ? undefined : text);
  };
  const json = (status: number, body: object) => say(status, 'application/json', JSON.stringify(body));
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    json(405, { status: 'method not allowed' });
    return;
  }
  const path = request.url?.split('?', 1)[0];
  if (path === '/metrics') {
    const newer = request.headers.accept?.includes('application/openmetrics-text') ?? false;
    say(200, newer ? openMetricsType : plainType, await metrics());
  } else if (path === '/healthz') json(200, { status: 'ok' });
  else if (path === '/readyz') {
    const reason = await ready().then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : 'not ready'),
    );
    if (reason === undefined) json(200, { status: 'ok' });
    else json(503, { status: 'unavailable', reason });
  } else json(404, { status: 'not found' });
}
