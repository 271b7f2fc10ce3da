import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Channel } from '../channels/channel.ts';
import type { Gateway } from '../http/gateway.ts';
import { gatewayStopping } from '../http/readiness.ts';
import { recordRequest } from '../http/record-request.ts';
import { newRequestId } from '../http/request-context.ts';
import { Failure } from '../lib/failure.ts';
import type { Timers } from '../lib/timers.ts';
import { beginTrace, type Trace } from '../telemetry/trace.ts';
import { logFields, type Work, within } from '../telemetry/work.ts';
import type { Connection, LiveSocket } from './connection.ts';
import {
  type Admission,
  admit,
  opensSocket,
  operationOf,
  refuseUpgrade,
  type SocketProtocol,
  subprotocol,
} from './handshake.ts';
import { maxFrameBytes } from './limits.ts';

/** Begins the session of a socket that is open; `channels` serve its model, at least one does. */
export type StartSession = (
  connection: Connection,
  socket: WebSocket,
  channels: readonly Channel[],
) => LiveSocket;

export interface AcceptOptions {
  /** Prefix of the paths, where the application is mounted. */
  path?: string;
  startSession: Record<SocketProtocol, StartSession>;
}

/**
 * Opens sockets on the server's `upgrade` events. An upgrade of another path is left to other listeners; without one it
 * is refused with 404.
 */
export function acceptSockets(
  server: Server,
  gateway: Gateway,
  timers: Timers,
  { path = '', startSession }: AcceptOptions,
): OpenSockets {
  const sockets = new OpenSockets(timers);
  const works = new WeakMap<IncomingMessage, Work>();
  const workOf = (request: IncomingMessage) => works.get(request) ?? { requestId: '', trace: undefined };
  const idOf = (request: IncomingMessage) => workOf(request).requestId;
  const switcher = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxFrameBytes,
    handleProtocols: (offered) => (offered.has(subprotocol) ? subprotocol : false),
  });
  switcher.on('headers', (headers, request) => headers.push(`x-request-id: ${idOf(request)}`));
  switcher.on('wsClientError', (error, socket, request) => {
    // A client of another version of the protocol must hear which ones there are.
    const failure = new Failure(400, 'invalid_request', `${error.message}.`);
    refuseUpgrade(socket, idOf(request), failure, ['sec-websocket-version: 13, 8']);
  });

  const startSocket = (
    admission: Admission,
    request: IncomingMessage,
    startedAt: number,
    socket: WebSocket,
    stream: Duplex,
  ) => {
    const { protocol, channels } = admission;
    const { requestId, trace } = workOf(request);
    const connection: Connection = {
      ...admission,
      gateway,
      requestId,
      trace,
      startedAt,
      timers,
      stream,
    };
    const session = startSession[protocol](connection, socket, channels);
    sockets.add(session);
    return session;
  };

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const { url = '' } = request;
    request.url = url.startsWith(`${path}/`) ? url.slice(path.length) : '';
    if (!opensSocket(request) && server.listenerCount('upgrade') > 1) {
      request.url = url;
      return;
    }
    const startedAt = timers.monotonic();
    const began = performance.now();
    const requestId = newRequestId(gateway.clock());
    const work: Work = { requestId, trace: beginTrace(request.headers.traceparent, requestId) };
    works.set(request, work);
    const record = (status: number, trace: Trace | undefined) =>
      recordRequest(began, 'GET', { operation: operationOf(request), trace }, status);
    // Until the switch nobody else listens, and an error without a listener is thrown.
    const ignore = () => {};
    socket.on('error', ignore);
    within(work, () => admit(gateway, request))
      .then(async (admission) => {
        const leave = await gateway.socketLimiter.acquire(admission.key.caller);
        let ended = Promise.resolve();
        try {
          if (gateway.draining) throw gatewayStopping();
          socket.off('error', ignore);
          // Where the client has left, or speaks another version of the protocol, nothing is opened.
          switcher.handleUpgrade(request, socket, head, (opened) => {
            // Its span goes on as long as the session.
            record(101, undefined);
            ({ ended } = startSocket(admission, request, startedAt, opened, socket));
          });
        } finally {
          void ended.then(leave);
        }
      })
      .catch((error: unknown) => {
        const { status, code, message, cause } = refuseUpgrade(socket, requestId, error);
        record(status, work.trace);
        const about = { ...logFields(work), status, code };
        if (status === 500) gateway.logger.error({ ...about, err: cause }, message);
        else gateway.logger.debug(about, message);
      });
  });
  return sockets;
}

/** Time for clients to answer a close before they are cut off, in milliseconds. */
const grace = 2_000;

/** The sockets that are open, and how they end with the gateway. */
export class OpenSockets {
  readonly #timers: Timers;
  readonly #live = new Set<LiveSocket>();
  #draining = false;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  get size(): number {
    return this.#live.size;
  }

  /** Keeps count of a socket until it has ended. */
  add(socket: LiveSocket): void {
    this.#live.add(socket);
    if (this.#draining) socket.drain();
    void socket.ended.then(() => void this.#live.delete(socket));
  }

  /** Lets running work finish for up to `graceMs` milliseconds, then closes. Resolves when all have ended. */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true;
    for (const socket of this.#live) socket.drain();
    await this.#allEnded(graceMs);
    for (const socket of this.#live) socket.shutDown();
    await this.#allEnded(grace);
    for (const socket of this.#live) socket.terminate();
    await Promise.all([...this.#live].map(({ ended }) => ended));
  }

  /** Resolves when all have ended, or after `limit` milliseconds. */
  async #allEnded(limit: number): Promise<void> {
    if (this.#live.size === 0 || limit <= 0) return;
    await new Promise<void>((resolve) => {
      const alarm = this.#timers.alarm(limit, resolve);
      void Promise.all([...this.#live].map(({ ended }) => ended)).then(() => {
        alarm.cancel();
        resolve();
      });
    });
  }
}
