import { WebSocket } from 'ws';
import { Failure } from '../lib/failure.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Channel } from './channel.ts';
import { type Candidate, candidates, noCandidate } from './failover.ts';
import { allowsRetryAfter, failureKindOf, failureKindOfStatus } from './failure-kinds.ts';
import type { Attempt } from './health.ts';
import type { RequestScope } from './pauses.ts';
import { readRetryAfter } from './retry-after.ts';

export interface SocketRequest {
  /** Path of the interface. The channel's profile may rename it. */
  path: '/api-ws/v1/realtime' | '/api-ws/v1/inference';
  /** The model's public id. */
  model: string;
  user?: number;
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
  for (const candidate of candidates(channels, scope)) {
    const { channel, attempt } = candidate;
    const call = channel.calls.begin('GET');
    try {
      const socket = await openSocket(channel, request, call.traceparent);
      call.answered(101);
      attempt.succeed();
      return { channel, attempt, socket };
    } catch (error) {
      if (error instanceof HandshakeRejectedError) call.answered(error.status);
      else call.failed(error);
      request.signal.throwIfAborted();
      last = error;
      recordFailure(candidate, error);
      logger.warn({ channel: channel.name, err: error }, 'upstream did not open a socket');
    } finally {
      attempt.finish();
    }
  }
  throw last === undefined ? noCandidate(channels, scope) : asFailure(last);
}

function recordFailure({ attempt }: Candidate, error: unknown): void {
  if (!(error instanceof HandshakeRejectedError)) {
    attempt.fail(failureKindOf(error));
    return;
  }
  const { status, retryAfter } = error;
  const kind = failureKindOfStatus(status);
  if (kind !== undefined) attempt.fail(kind, allowsRetryAfter(status) ? retryAfter : undefined);
}

/** Reports a close code to the attempt: a connection loss or a server failure counts as a failure. */
export function recordClose({ attempt }: Pick<OpenedSocket, 'attempt'>, code: number): void {
  if ([1006, 1011, 1012, 1013, 1014].includes(code)) attempt.fail('broken_off');
}

/** Opens a socket with the account's key. Rejects on a timeout or when the signal is aborted. */
export function openSocket(
  channel: Channel,
  request: SocketRequest,
  traceparent?: string,
): Promise<WebSocket> {
  const { path, model, signal, timers = systemTimers } = request;
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
      fail(new HandshakeTimeoutError('the handshake took too long')),
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
      fail(new HandshakeRejectedError(statusCode, readRetryAfter(headers))),
    );
    socket.on('error', fail);
  });
}

/** The upstream responded to the handshake with an HTTP status other than 101. */
class HandshakeRejectedError extends Error {
  readonly status: number;
  /** Seconds. */
  readonly retryAfter: number | undefined;

  constructor(status: number, retryAfter: number | undefined) {
    super(`the upstream responded to the handshake with status ${status}`);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

class HandshakeTimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

function asFailure(cause: unknown): Failure {
  if (cause instanceof HandshakeTimeoutError)
    return new Failure(504, 'upstream_timeout', 'The provider did not answer in time.', { cause });
  if (cause instanceof HandshakeRejectedError && cause.status === 429) {
    const message = 'The provider takes no more connections now.';
    return new Failure(429, 'rate_limit_exceeded', message, { retryAfter: cause.retryAfter ?? 1, cause });
  }
  return new Failure(502, 'do_request_failed', 'The provider could not be reached.', { cause });
}
