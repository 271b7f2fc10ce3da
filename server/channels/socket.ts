import { WebSocket } from 'ws';
import { Failure } from '../failure.ts';
import type { Logger } from '../runtime/logger.ts';
import { systemTimers, type Timers } from '../runtime/timers.ts';
import type { Channel } from './channel.ts';

export interface SocketRequest {
  /** As the interface writes it; the profile may rename it. */
  path: '/api-ws/v1/realtime' | '/api-ws/v1/inference';
  /** The model's public id. */
  model: string;
  signal: AbortSignal;
  timers?: Timers;
}

export interface OpenedSocket {
  channel: Channel;
  /** Paused, so that nothing is lost: attach the listeners, then call `resume()`. */
  socket: WebSocket;
}

/** Longest time from the first packet to the 101, in milliseconds. */
const handshakeLimit = 10_000;
/** Longest frame of a provider, in bytes. */
const maxFrameBytes = 4 * 1024 * 1024;
/** At the most so many accounts are asked for one socket. */
const attempts = 3;

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
  let last: unknown;
  for (const channel of channels.slice(0, attempts)) {
    try {
      const socket = await openSocket(channel, request);
      channel.health.succeeded();
      return { channel, socket };
    } catch (error) {
      request.signal.throwIfAborted();
      last = error;
      // Throttling says nothing about health, and a key may be refused for one model only.
      if (!(error instanceof Refused) || error.status >= 500) channel.health.failed();
      logger.warn({ channel: channel.name, err: error }, 'upstream did not open a socket');
    }
  }
  throw asFailure(last);
}

/** Opens a socket with the account's key. Rejects when it is not open in time, or the signal is aborted. */
export function openSocket(channel: Channel, request: SocketRequest): Promise<WebSocket> {
  const { path, model, signal, timers = systemTimers } = request;
  const { wsUrl, key } = channel.settings;
  const query = `model=${encodeURIComponent(channel.upstreamModel(model))}`;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = new WebSocket(`${wsUrl}${channel.upstreamPath(path)}?${query}`, {
      headers: { authorization: `Bearer ${key}` },
      perMessageDeflate: false,
      maxPayload: maxFrameBytes,
    });
    const giveUp = (reason: unknown) => {
      stop();
      reject(reason);
      socket.terminate();
    };
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
      resolve(socket);
    });
    socket.on('unexpected-response', (_request, response) => giveUp(new Refused(response.statusCode ?? 0)));
    socket.on('error', giveUp);
  });
}

/** The upstream answered the handshake with an ordinary HTTP status. */
class Refused extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the upstream answered the handshake with ${status}`);
    this.status = status;
  }
}

class Late extends Error {}

function asFailure(cause: unknown): Failure {
  if (cause === undefined)
    return new Failure(503, 'get_channel_failed', 'No channel can serve the model now.', { retryAfter: 1 });
  if (cause instanceof Late)
    return new Failure(504, 'upstream_timeout', 'The provider did not answer in time.', { cause });
  if (cause instanceof Refused && cause.status === 429) {
    const message = 'The provider takes no more connections now.';
    return new Failure(429, 'rate_limit_exceeded', message, { retryAfter: 1, cause });
  }
  return new Failure(502, 'do_request_failed', 'The provider could not be reached.', { cause });
}
