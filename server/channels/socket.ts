import type { IncomingHttpHeaders } from 'node:http';
import { WebSocket } from 'ws';
import { Failure } from '../lib/failure.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Channel } from './channel.ts';
import {
  type CandidateSearch,
  candidates,
  connectionFailure,
  failWithStatus,
  noCandidate,
} from './failover.ts';
import { failureKindOf, failureKindOfStatus } from './failure-kinds.ts';
import type { Attempt } from './health.ts';
import type { RequestScope } from './pauses.ts';
import { readRetryAfter } from './retry-after.ts';

export interface SocketRequest {
  /** Path of the interface. The channel's profile may rename it. */
  path: '/api-ws/v1/realtime' | '/api-ws/v1/inference';
  /** The model's public id. */
  model: string;
  user?: number;
  /** See `CandidateSearch`. */
  hasFallback?: boolean | undefined;
  signal: AbortSignal;
  timers?: Timers;
}

export interface OpenedSocket {
  channel: Channel;
  /** The caller reports a connection loss to it. */
  attempt: Attempt;
  /** Paused, so that no message is lost: attach the listeners, then call `resume()`. */
  socket: WebSocket;
}

const handshakeTimeoutMs = 10_000;
const maxFrameBytes = 4 * 1024 * 1024;

/**
 * Opens a socket to the first channel that accepts one.
 *
 * @throws Failure 429 when the provider throttles, 502, 503 or 504 when no channel could be reached. The signal's
 *   reason when it is aborted.
 */
export async function openSocketWithFailover(
  channels: readonly Channel[],
  request: SocketRequest,
  logger: Logger,
): Promise<OpenedSocket> {
  const scope: RequestScope = { user: request.user, model: request.model };
  let last: unknown;
  const search: CandidateSearch = { channels, scope, hasFallback: request.hasFallback, refusals: [] };
  for await (const { channel, attempt, permit } of candidates(search)) {
    const call = channel.calls.begin('GET');
    try {
      const socket = await openSocket(channel, request, call.traceparent);
      call.answered(101);
      attempt.succeed();
      socket.once('close', permit.keep());
      return { channel, attempt, socket };
    } catch (error) {
      const isRejected = error instanceof HandshakeRejectedError;
      if (isRejected) call.answered(error.status);
      else call.failed(error);
      request.signal.throwIfAborted();
      last = error;
      const failureKind = isRejected ? failureKindOfStatus(error.status) : failureKindOf(error);
      if (isRejected) failWithStatus(attempt, { status: error.status, headers: error.headers, failureKind });
      else if (failureKind !== undefined) attempt.fail(failureKind);
      logger.warn(
        { channel: channel.name, failure: failureKind, err: error },
        'upstream did not open a socket',
      );
    } finally {
      attempt.finish();
    }
  }
  throw last === undefined ? noCandidate(search) : asFailure(last);
}

/** Reports a close code to the attempt: a connection loss or a server failure counts as a failure. */
export function recordClose({ attempt }: Pick<OpenedSocket, 'attempt'>, code: number): void {
  if ([1006, 1011, 1012, 1013, 1014].includes(code)) attempt.fail('disconnected');
}

/** Opens a socket with the account's key. Rejects on a timeout or when the signal is aborted. */
function openSocket(
  channel: Channel,
  { path, model, signal, timers = systemTimers }: SocketRequest,
  traceparent: string | undefined,
): Promise<WebSocket> {
  const { wsUrl, key } = channel.settings;
  const query = `model=${encodeURIComponent(channel.upstreamModel(model))}`;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = new WebSocket(`${wsUrl}${channel.upstreamPath(path)}?${query}`, {
      headers: { authorization: `Bearer ${key}`, ...(traceparent !== undefined && { traceparent }) },
      perMessageDeflate: false,
      maxPayload: maxFrameBytes,
    });
    const fail = (reason: unknown) => {
      cleanUp();
      counted.finish();
      reject(reason);
      socket.terminate();
    };
    const counted = channel.health.figures.startRequest();
    const timeout = timers.alarm(handshakeTimeoutMs, () =>
      fail(new HandshakeTimeoutError('the handshake timed out')),
    );
    const abort = () => fail(signal.reason);
    const cleanUp = () => {
      timeout.cancel();
      signal.removeEventListener('abort', abort);
      socket.removeAllListeners();
      // An error event without a listener would be thrown.
      socket.on('error', () => {});
    };
    signal.addEventListener('abort', abort, { once: true });
    socket.on('open', () => {
      socket.pause();
      cleanUp();
      counted.recordLatency();
      socket.once('close', counted.finish);
      resolve(socket);
    });
    socket.on('unexpected-response', (_request, { statusCode = 0, headers }) =>
      fail(new HandshakeRejectedError(statusCode, headers)),
    );
    socket.on('error', fail);
  });
}

/** The upstream responded to the handshake with an HTTP status other than 101. */
class HandshakeRejectedError extends Error {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;

  constructor(status: number, headers: IncomingHttpHeaders) {
    super(`the upstream responded to the handshake with status ${status}`);
    this.status = status;
    this.headers = headers;
  }
}

class HandshakeTimeoutError extends Error {
  override readonly name = 'TimeoutError';
  readonly code = 'UND_ERR_HEADERS_TIMEOUT';
}

function asFailure(cause: unknown): Failure {
  if (!(cause instanceof HandshakeRejectedError) || cause.status !== 429) return connectionFailure(cause);
  const message = 'The provider takes no more connections now.';
  const retryAfter = readRetryAfter(cause.headers) ?? 1;
  return new Failure(429, 'rate_limit_exceeded', message, { retryAfter, cause });
}
