import type { IncomingMessage, Server } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Channel } from '../channels/channel.ts';
import { logAccess } from '../http/access-log.ts';
import type { Gateway } from '../http/gateway.ts';
import { gatewayStopping } from '../http/readiness.ts';
import { recordRequest } from '../http/record-request.ts';
import { asFailure } from '../http/render-failure.ts';
import { newRequestId } from '../http/request-context.ts';
import { Failure } from '../lib/failure.ts';
import type { Timers } from '../lib/timers.ts';
import { logFields, runInContext, type TelemetryContext } from '../telemetry/telemetry-context.ts';
import { startTrace, type Trace } from '../telemetry/trace.ts';
import type { Connection } from './connection.ts';
import {
  hasBrowserKey,
  isSocketUpgrade,
  operationOf,
  refuseUpgrade,
  type SocketProtocol,
  subprotocol,
  verifyHandshake,
} from './handshake.ts';
import { maxFrameBytes } from './limits.ts';
import { errorEvent, fatalErrors } from './realtime/errors.ts';
import type { SocketSession } from './session.ts';

/** Starts the session of an open socket. `channels` serve its model; there is at least one. */
type StartSession = (
  connection: Connection,
  socket: WebSocket,
  channels: readonly Channel[],
) => SocketSession;

export interface AcceptOptions {
  /** Path where the application is mounted. */
  path?: string;
  startSession: Record<SocketProtocol, StartSession>;
}

/**
 * Handles the server's `upgrade` events. An upgrade of an unknown path is left to other listeners, or refused with 404
 * if there are none.
 */
export function acceptSockets(
  server: Server,
  gateway: Gateway,
  { path = '', startSession }: AcceptOptions,
): OpenSockets {
  const { timers } = gateway;
  const sockets = new OpenSockets(timers);
  const requestIds = new WeakMap<IncomingMessage, string>();
  const idOf = (request: IncomingMessage) => requestIds.get(request) ?? '';
  const webSocketServer = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxFrameBytes,
    handleProtocols: (offered) => (offered.has(subprotocol) ? subprotocol : false),
  });
  webSocketServer.on('headers', (headers, request) => headers.push(`x-request-id: ${idOf(request)}`));
  webSocketServer.on('wsClientError', (error, socket, request) => {
    // RFC 6455, 4.4: the response lists the supported versions.
    const failure = new Failure(400, 'invalid_request', `${error.message}.`);
    refuseUpgrade(socket, idOf(request), failure, ['sec-websocket-version: 13, 8']);
  });

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const { url = '' } = request;
    request.url = url.startsWith(`${path}/`) ? url.slice(path.length) : '';
    if (!isSocketUpgrade(request) && server.listenerCount('upgrade') > 1) {
      request.url = url;
      return;
    }
    const startedAt = timers.monotonic();
    const recordedFrom = performance.now();
    const requestId = newRequestId(gateway.clock());
    const context: TelemetryContext = {
      requestId,
      trace: startTrace(request.headers.traceparent, requestId),
    };
    requestIds.set(request, requestId);
    const record = (status: number, trace: Trace | undefined) =>
      recordRequest(recordedFrom, 'GET', { operation: operationOf(request), trace }, status);
    // Until the upgrade this is the only listener, and an error without a listener is thrown.
    const ignore = () => {};
    socket.on('error', ignore);
    runInContext(context, () => verifyHandshake(gateway, request))
      .then(async (handshake) => {
        const release = await gateway.socketLimiter.acquire(handshake.key.caller);
        let ended = Promise.resolve();
        try {
          if (gateway.draining) throw gatewayStopping();
          socket.off('error', ignore);
          // The callback is not called if the client disconnected or uses an unsupported version.
          webSocketServer.handleUpgrade(request, socket, head, (opened) => {
            // The session ends its own span.
            record(101, undefined);
            const { protocol, channels } = handshake;
            const connection = { ...handshake, ...context, gateway, startedAt, timers, stream: socket };
            const session = startSession[protocol](connection, opened, channels);
            sockets.add(session);
            ({ ended } = session);
          });
        } finally {
          void ended.then(release);
        }
      })
      .catch((error: unknown) => {
        const failure = asFailure(error);
        const { status, code, message, cause } = failure;
        if (status === 401 && hasBrowserKey(request))
          webSocketServer.handleUpgrade(request, socket, head, (opened) =>
            rejectKey(opened, failure, timers),
          );
        else refuseUpgrade(socket, requestId, failure);
        record(status, context.trace);
        const operation = operationOf(request);
        logAccess(gateway, 'request completed', {
          context,
          operation: operation?.id,
          keyId: undefined,
          method: 'GET',
          route: operation?.path ?? '',
          status,
          bytes: socket instanceof Socket ? socket.bytesWritten : 0,
          began: recordedFrom,
          aborted: false,
        });
        const fields = { ...logFields(context), status, code };
        if (status === 500) gateway.logger.error({ ...fields, err: cause }, message);
        else gateway.logger.debug(fields, message);
      });
  });
  return sockets;
}

/** How long a client may take to answer a close frame before its connection is destroyed. */
const closeTimeoutMs = 2_000;

/** Close code of a socket whose key is not valid. Pages see it instead of the status 401. */
const invalidKeyCloseCode = 4401;

/** Reports an invalid key to a page, which can read events and close codes only. */
function rejectKey(socket: WebSocket, { message }: Failure, timers: Timers): void {
  const code = 'invalid_api_key';
  const alarm = timers.alarm(closeTimeoutMs, () => socket.terminate());
  socket.once('close', () => alarm.cancel());
  // A close event follows every error.
  socket.on('error', () => {});
  socket.send(errorEvent({ type: fatalErrors[code].type, code, message }));
  socket.close(invalidKeyCloseCode, code);
}

/** The open sockets of a gateway, which it drains when it stops. */
export class OpenSockets {
  readonly #timers: Timers;
  readonly #live = new Set<SocketSession>();
  #draining = false;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  get size(): number {
    return this.#live.size;
  }

  /** Tracks a socket until it has ended. */
  add(socket: SocketSession): void {
    this.#live.add(socket);
    if (this.#draining) socket.drain();
    void socket.ended.then(() => void this.#live.delete(socket));
  }

  /** Lets running sessions finish for up to `graceMs`, then closes them. Resolves when all have ended. */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true;
    for (const socket of this.#live) socket.drain();
    await this.#waitForEnd(graceMs);
    for (const socket of this.#live) socket.shutDown();
    await this.#waitForEnd(closeTimeoutMs);
    for (const socket of this.#live) socket.terminate();
    await Promise.all([...this.#live].map(({ ended }) => ended));
  }

  async #waitForEnd(timeoutMs: number): Promise<void> {
    if (this.#live.size === 0 || timeoutMs <= 0) return;
    await new Promise<void>((resolve) => {
      const alarm = this.#timers.alarm(timeoutMs, resolve);
      void Promise.all([...this.#live].map(({ ended }) => ended)).then(() => {
        alarm.cancel();
        resolve();
      });
    });
  }
}
