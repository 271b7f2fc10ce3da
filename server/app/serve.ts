import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { openApiBundle } from '../http/contract-documents.ts';
import { nodeHttp } from '../lib/node-http.ts';
import type { Settings } from '../settings/settings.ts';
import type { OpenSockets } from '../sockets/accept.ts';
import { isSocketUpgrade } from '../sockets/handshake.ts';
import type { Logger } from '../telemetry/logger.ts';
import { attachSockets } from './attach-sockets.ts';
import { createApp } from './create-app.ts';
import { type GatewayOptions, type OpenGateway, openGateway } from './open-gateway.ts';
import { withExpressPrototypes } from './server-options.ts';

export interface RunningGateway extends Omit<OpenGateway, 'close' | 'listensAt' | 'stop'> {
  /** Address it listens on, without a trailing slash. */
  url: string;
  /** Open sockets, and closed ones whose usage is not settled yet. */
  sockets: OpenSockets;
  /**
   * Reports not ready for `stop.delay_seconds`, then refuses new requests, ends open ones within `graceMs`, and stops.
   */
  close(graceMs?: number): Promise<void>;
}

/** Closes connections on which the client neither sends nor reads. */
const idleTimeoutMs = 300_000;

/** Starts a gateway and its HTTP server. */
export async function serve(
  settings: Settings,
  logger: Logger,
  options: Omit<GatewayOptions, 'onReload'> = {},
): Promise<RunningGateway> {
  const { place } = options;
  let server: Server | SecureServer | undefined;
  const onReload = ({ tls }: Settings) => {
    if (tls !== undefined && server !== undefined && 'setSecureContext' in server)
      server.setSecureContext({ cert: tls.certificate, key: tls.key });
  };
  const opened = await openGateway(settings, logger, { ...options, onReload });
  const { close, listensAt, stop, ...running } = opened;
  const { gateway } = running;
  try {
    const responseChecks = settings.checkResponses
      ? (await import('./check-responses.ts')).checkResponses(openApiBundle())
      : [];
    const app = createApp(gateway, { responseChecks });
    const serverOptions = { ...withExpressPrototypes(app), shouldUpgradeCallback: isSocketUpgrade };
    const listening: Server | SecureServer =
      settings.tls === undefined
        ? nodeHttp.createServer(serverOptions, app)
        : (await import('node:https')).createServer(
            { cert: settings.tls.certificate, key: settings.tls.key, ...serverOptions },
            app,
          );
    server = listening;
    const sockets = attachSockets(listening, gateway);
    listening.timeout = idleTimeoutMs;
    const { host, port } = settings;
    listening.listen(
      place === undefined ? { host, port } : { host, port: place.port, reusePort: place.reusePort },
    );
    await once(listening, 'listening');
    const url = addressOf(listening, settings);
    await listensAt(url);
    return {
      ...running,
      url,
      sockets,
      close: (graceMs = 30_000) =>
        close(graceMs, (ms) => Promise.all([sockets.drain(ms), drain(listening, ms)])),
    };
  } catch (error) {
    server?.close();
    await stop();
    throw error;
  }
}

/** Interval at which idle connections are closed during a stop. A request may be in transit on an idle connection. */
const idleCheckMs = 100;

/** Closes the listener, responds to requests on open connections, and ends all connections after `graceMs`. */
async function drain(server: Server, graceMs: number): Promise<void> {
  // `server.close()` ends idle connections at once, also one whose first request has just arrived.
  const closed = new Promise<void>((resolve) => void NetServer.prototype.close.call(server, () => resolve()));
  server.prependListener('request', (_request, response: ServerResponse) => {
    response.shouldKeepAlive = false;
  });
  // After pending input is read: in a busy process a request may wait on a connection that looks idle.
  const idle = setInterval(() => setImmediate(() => server.closeIdleConnections()), idleCheckMs);
  const force = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(idle);
  clearTimeout(force);
  // Stops the timer of slow requests.
  server.close();
}

function addressOf(server: Server, { host, tls }: Settings): string {
  const { port } = server.address() as AddressInfo;
  return `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
