import { Failure } from '../lib/failure.ts';
import { BusyError } from '../outbound/slots.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Channel, UpstreamRequest, UpstreamResponse } from './channel.ts';
import { faultIn, faultOf, mayAskToWait, neverSent, refusedBeforeWork } from './faults.ts';
import type { Attempt } from './health.ts';
import type { Asked } from './pauses.ts';
import { readRetryAfter } from './retry-after.ts';

/** At the most so many accounts are asked for one request. */
const attempts = 3;
/** Seconds after which to try again when no slot was free. */
const busyPause = 2;

/** A channel whose turn it is. The attempt is to be told how it ended. */
export interface Turn {
  channel: Channel;
  attempt: Attempt;
  /** Absent where the provider answers on a socket. */
  response?: UpstreamResponse;
}

/**
 * The channels to ask one after the other: in the order given those that are worth it now, then the others, as far as
 * they may be asked at all.
 */
export function* inTurn(channels: readonly Channel[], asked: Asked): Generator<Turn, void, void> {
  let left = attempts;
  const skipped: Channel[] = [];
  for (const channel of channels) {
    if (left === 0) return;
    const attempt = channel.health.admit(asked);
    if (attempt === undefined) {
      skipped.push(channel);
      continue;
    }
    left -= 1;
    yield { channel, attempt };
  }
  for (const channel of skipped) {
    if (left === 0) return;
    const attempt = channel.health.insist(asked);
    if (attempt === undefined) continue;
    left -= 1;
    yield { channel, attempt };
  }
}

/** The failure to tell when no channel had a turn: 429 where all providers asked the user to wait, else 503. */
export function noTurn(channels: readonly Channel[], asked: Asked): Failure {
  const waits = channels.map(({ health }) => health.waitFor(asked));
  const retryAfter = Math.max(1, Math.ceil(Math.min(...waits.map(({ ms }) => ms), 300_000) / 1_000));
  if (waits.length > 0 && waits.every(({ throttled }) => throttled)) {
    const message = 'The provider takes no more requests now.';
    return new Failure(429, 'rate_limit_exceeded', message, { retryAfter });
  }
  return new Failure(503, 'get_channel_failed', 'No channel can serve the model now.', {
    retryAfter: waits.length > 0 ? retryAfter : 1,
  });
}

/** The failure of the last channel asked; where all have asked the user to wait, the one with the shortest pause. */
export function soonest(failure: Failure, channels: readonly Channel[], asked: Asked): Failure {
  if (failure.status !== 429) return failure;
  const shortest = noTurn(channels, asked);
  return shortest.status === 429 && (shortest.retryAfter ?? 0) < (failure.retryAfter ?? 0)
    ? shortest
    : failure;
}

export interface Answered {
  channel: Channel;
  /** To be told when the answer turns out to be none. */
  attempt: Attempt;
  response: UpstreamResponse;
  /** The body that was sent. */
  sent: unknown;
}

export interface FailoverOptions extends Asked {
  /** It makes something that must not be made twice: another channel is asked only when this one has certainly not. */
  once?: boolean | undefined;
}

/**
 * Asks the channels in turn until one answers with something other than a failure of its own: no connection,
 * a refused key or account, throttling or a 5xx. The last answer is returned as it is, whatever it says, but that
 * `retry-after` of a throttling one is no longer than the shortest of all.
 *
 * @throws Failure 429 or 503 when there is no channel to ask now, 502 or 504 when none answered.
 */
export async function requestInTurn(
  channels: readonly Channel[],
  build: (channel: Channel) => UpstreamRequest,
  logger: Logger,
  { once = false, ...asked }: FailoverOptions = {},
): Promise<Answered> {
  let last: Answered | { error: unknown } | undefined;
  for (const { channel, attempt } of inTurn(channels, asked)) {
    if (last !== undefined && 'response' in last) await last.response.body.dump();
    try {
      const request = build(channel);
      const answered = await ask(channel, attempt, request);
      const { status } = answered.response;
      last = answered;
      if (faultIn(status) === undefined) return answered;
      logger.warn({ channel: channel.name, status }, 'upstream failed');
      if (once && !refusedBeforeWork(status)) return answered;
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      const { cause } = error;
      logger.warn({ channel: channel.name, err: cause }, 'upstream did not answer');
      last = { error: cause };
      if (once && !neverSent(cause)) break;
    } finally {
      attempt.over();
    }
  }
  if (last === undefined) throw noTurn(channels, asked);
  if ('error' in last) throw unanswered(last.error);
  return withShortestPause(last, channels, asked);
}

/** Sends one request, and tells the attempt what its answer says of the channel. */
async function ask(channel: Channel, attempt: Attempt, request: UpstreamRequest): Promise<Answered> {
  let response: UpstreamResponse;
  try {
    response = await channel.request(request);
  } catch (error) {
    if (error instanceof Failure || request.signal.aborted) throw error;
    attempt.failed(faultOf(error));
    throw new Unanswered(error);
  }
  const { status, headers, body } = response;
  const fault = faultIn(status);
  if (fault === undefined) attempt.succeeded();
  else attempt.failed(fault, mayAskToWait(status) ? readRetryAfter(headers) : undefined);
  // Once it flows it may still break; that a reader has left it is no fault of the channel.
  body.onClose((error) => {
    const { code } = (error ?? {}) as NodeJS.ErrnoException;
    if (!request.signal.aborted && brokenOff.has(code ?? '')) attempt.failed(faultOf(error));
  });
  return { channel, attempt, response, sent: request.body };
}

/** How a body ends that its upstream does not finish. */
const brokenOff = new Set(['UND_ERR_SOCKET', 'UND_ERR_BODY_TIMEOUT', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT']);

/** No answer came; `cause` says why. */
class Unanswered extends Error {
  constructor(cause: unknown) {
    super('the upstream did not answer', { cause });
  }
}

/** A throttled user may come back as soon as one of the channels takes more. */
function withShortestPause(answered: Answered, channels: readonly Channel[], asked: Asked): Answered {
  const { response } = answered;
  const told = readRetryAfter(response.headers);
  if (response.status !== 429 || told === undefined) return answered;
  const { status, retryAfter = told } = noTurn(channels, asked);
  if (status !== 429 || retryAfter >= told) return answered;
  const headers = { ...response.headers, 'retry-after': String(retryAfter) };
  return { ...answered, response: { ...response, headers } };
}

/** The failure to tell for an upstream that gave no answer, or broke off in the middle of one. */
export function unanswered(cause: unknown): Failure {
  if (cause instanceof BusyError) {
    const message = 'Too many requests wait for the provider now.';
    return new Failure(503, 'get_channel_failed', message, { retryAfter: busyPause, cause });
  }
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const late =
    code === 'UND_ERR_HEADERS_TIMEOUT' ||
    code === 'UND_ERR_BODY_TIMEOUT' ||
    code === 'UND_ERR_CONNECT_TIMEOUT';
  return late
    ? new Failure(504, 'upstream_timeout', 'The provider did not answer in time.', { cause })
    : new Failure(502, 'do_request_failed', 'The provider could not be reached.', { cause });
}
