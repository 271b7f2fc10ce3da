import { WebSocket } from 'ws';
import { Failure } from '../lib/failure.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Channel } from './channel.ts';
import { inTurn, noTurn, type Turn } from './failover.ts';
import { faultIn, faultOf, mayAskToWait } from './faults.ts';
import type { Attempt } from './health.ts';
import type { Asked } from './pauses.ts';
import { readRetryAfter } from './retry-after.ts';

export interface SocketRequest {
  /** As the interface writes it; the profile may rename it. */
  path: '/api-ws/v1/realtime' | '/api-ws/v1/inference';
  /** The model's public id. */
  model: string;
  /** For whom it is. */
  user?: number;
  signal: AbortSignal;
  timers?: Timers;
}

export interface OpenedSocket {
  channel: Channel;
  /** To be told when the upstream breaks off. */
  attempt: Attempt;
  /** Paused, so that nothing is lost: attach the listeners, then call `resume()`. */
  socket: WebSocket;
}

/** Longest time from the first packet to the 101, in milliseconds. */
const handshakeLimit = 10_000;
/** Longest frame of a provider, in bytes. */
const maxFrameBytes = 4 * 1024 * 1024;

/**
 * Opens a socket to one of the channels, asked in turn until one takes it.
 *
 * @throws Failure 429 when the provider throttles, 502, 503 or 504 when no channel could be reached; the signal's
 *   reason when that is aborted.
 */
export async function openSocketInTurn(
  channels: readonly Channel[],
  request: SocketRequest,
  logger: Logger,
): Promise<OpenedSocket> {
  const asked: Asked = { user: request.user, model: request.model };
  let last: unknown;
  for (const turn of inTurn(channels, asked)) {
    const { channel, attempt } = turn;
    const call = channel.calls.begin('GET');
    try {
      const socket = await openSocket(channel, request, call.traceparent);
      call.answered(101);
      attempt.succeeded();
      return { channel, attempt, socket };
    } catch (error) {
      if (error instanceof Refused) call.answered(error.status);
      else call.failed(error);
      request.signal.throwIfAborted();
      last = error;
      note(turn, error);
      logger.warn({ channel: channel.name, err: error }, 'upstream did not open a socket');
    } finally {
      attempt.over();
    }
  }
  throw last === undefined ? noTurn(channels, asked) : asFailure(last);
}

/** Tells the attempt what a handshake that came to nothing says of the channel. */
function note({ attempt }: Turn, error: unknown): void {
  if (!(error instanceof Refused)) {
    attempt.failed(faultOf(error));
    return;
  }
  const { status, pause } = error;
  const fault = faultIn(status);
  if (fault !== undefined) attempt.failed(fault, mayAskToWait(status) ? pause : undefined);
}

/**
 * Tells the attempt how the upstream closed its socket: a line that is cut, or a server that says that it fails or goes
 * away, speaks against the channel.
 */
export function noteClose({ attempt }: Pick<OpenedSocket, 'attempt'>, code: number): void {
  if ([1006, 1011, 1012, 1013, 1014].includes(code)) attempt.failed('broken_off');
}

/** Opens a socket with the account's key. Rejects when it is not open in time, or the signal is aborted. */
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
    const giveUp = (reason: unknown) => {
      stop();
      counted.ended();
      reject(reason);
      socket.terminate();
    };
    const counted = channel.health.figures.begin();
    const late = timers.alarm(handshakeLimit, () => giveUp(new Late('the handshake took too long')));
    const leave = () => giveUp(signal.reason);
    const stop = () => {
      late.cancel();
      signal.removeEventListener('abort', leave);
      socket.removeAllListeners();
      // A close follows every error; without a listener an error would be thrown.
      socket.on('error', () => {});
    };
    signal.addEventListener('abort', leave, { once: true });
    socket.on('open', () => {
      socket.pause();
      stop();
      counted.answered();
      socket.once('close', counted.ended);
      resolve(socket);
    });
    socket.on('unexpected-response', (_request, { statusCode = 0, headers }) =>
      giveUp(new Refused(statusCode, readRetryAfter(headers))),
    );
    socket.on('error', giveUp);
  });
}

/** The upstream answered the handshake with an ordinary HTTP status. */
class Refused extends Error {
  readonly status: number;
  /** Seconds that it asks to wait. */
  readonly pause: number | undefined;

  constructor(status: number, pause: number | undefined) {
    super(`the upstream answered the handshake with ${status}`);
    this.status = status;
    this.pause = pause;
  }
}

class Late extends Error {
  override readonly name = 'TimeoutError';
}

function asFailure(cause: unknown): Failure {
  if (cause instanceof Late)
    return new Failure(504, 'upstream_timeout', 'The provider did not answer in time.', { cause });
  if (cause instanceof Refused && cause.status === 429) {
    const message = 'The provider takes no more connections now.';
    return new Failure(429, 'rate_limit_exceeded', message, { retryAfter: cause.pause ?? 1, cause });
  }
  return new Failure(502, 'do_request_failed', 'The provider could not be reached.', { cause });
}
