import type { IncomingHttpHeaders } from 'node:http';
import { Failure } from '../lib/failure.ts';
import type { HttpResponse } from '../outbound/send-request.ts';
import { BusyError } from '../outbound/slots.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Channel, UpstreamRequest } from './channel.ts';
import {
  allowsRetryAfter,
  failureKindOf,
  failureKindOfStatus,
  wasNeverSent,
  wasRejectedBeforeWork,
} from './failure-kinds.ts';
import type { Attempt } from './health.ts';
import type { RequestScope } from './pauses.ts';
import { readRetryAfter } from './retry-after.ts';

/** Maximum number of channels that one request is sent to. */
const maxAttempts = 3;
/** `retry-after` in seconds when no slot was free. */
const busyRetryAfter = 2;

/** A channel to send a request to. The caller reports the outcome to `attempt`. */
export interface Candidate {
  channel: Channel;
  attempt: Attempt;
  /** Undefined if the provider responds on a socket. */
  response?: HttpResponse;
}

/** Yields healthy channels in the given order, then the others as far as a forced attempt is allowed. */
export function* candidates(
  channels: readonly Channel[],
  scope: RequestScope,
): Generator<Candidate, void, void> {
  let remaining = maxAttempts;
  const skipped: Channel[] = [];
  for (const channel of channels) {
    if (remaining === 0) return;
    const attempt = channel.health.admit(scope);
    if (attempt === undefined) {
      skipped.push(channel);
      continue;
    }
    remaining -= 1;
    yield { channel, attempt };
  }
  for (const channel of skipped) {
    if (remaining === 0) return;
    const attempt = channel.health.forceAttempt(scope);
    if (attempt === undefined) continue;
    remaining -= 1;
    yield { channel, attempt };
  }
}

/** Builds the failure for a request without a candidate: 429 if all providers throttle the user, else 503. */
export function noCandidate(channels: readonly Channel[], scope: RequestScope): Failure {
  const waits = channels.map(({ health }) => health.retryDelay(scope));
  const retryAfter = Math.max(1, Math.ceil(Math.min(...waits.map(({ ms }) => ms), 300_000) / 1_000));
  if (waits.length > 0 && waits.every(({ throttled }) => throttled)) {
    const message = 'The provider takes no more requests now.';
    return new Failure(429, 'rate_limit_exceeded', message, { retryAfter });
  }
  return new Failure(503, 'get_channel_failed', 'No channel can serve the model now.', {
    retryAfter: waits.length > 0 ? retryAfter : 1,
  });
}

/** Shortens the `retryAfter` of a 429 to the shortest wait of all channels, if all throttle the user. */
export function withShortestRetryAfter(
  failure: Failure,
  channels: readonly Channel[],
  scope: RequestScope,
): Failure {
  if (failure.status !== 429) return failure;
  const shortest = noCandidate(channels, scope);
  return shortest.status === 429 && (shortest.retryAfter ?? 0) < (failure.retryAfter ?? 0)
    ? shortest
    : failure;
}

export interface ChannelResponse {
  channel: Channel;
  /** The caller reports an unusable response to it. */
  attempt: Attempt;
  response: HttpResponse;
  /** The body that was sent. */
  sent: unknown;
}

export interface FailoverOptions extends RequestScope {
  /** The request must not run twice: failover happens only if the channel certainly did not begin it. */
  atMostOnce?: boolean | undefined;
}

/**
 * Sends the request to one candidate after the other, until one responds without a failure of its own (see
 * `failureKindOfStatus`). Returns the last response, with the shortest `retry-after` of all channels.
 *
 * @throws Failure 429 or 503 when there is no candidate, 502 or 504 when none responded.
 */
export async function requestWithFailover(
  channels: readonly Channel[],
  build: (channel: Channel) => UpstreamRequest,
  logger: Logger,
  { atMostOnce = false, ...scope }: FailoverOptions = {},
): Promise<ChannelResponse> {
  let last: ChannelResponse | { error: unknown } | undefined;
  for (const { channel, attempt } of candidates(channels, scope)) {
    if (last !== undefined && 'response' in last) await last.response.body.dump();
    try {
      const request = build(channel);
      const channelResponse = await attemptRequest(channel, attempt, request);
      const { status } = channelResponse.response;
      last = channelResponse;
      if (failureKindOfStatus(status) === undefined) return channelResponse;
      logger.warn({ channel: channel.name, status }, 'upstream failed');
      if (atMostOnce && !wasRejectedBeforeWork(status)) return channelResponse;
    } catch (error) {
      if (!(error instanceof NoResponseError)) throw error;
      const { cause } = error;
      logger.warn({ channel: channel.name, err: cause }, 'upstream did not answer');
      last = { error: cause };
      if (atMostOnce && !wasNeverSent(cause)) break;
    } finally {
      attempt.finish();
    }
  }
  if (last === undefined) throw noCandidate(channels, scope);
  if ('error' in last) throw connectionFailure(last.error);
  return shortenRetryAfterHeader(last, channels, scope);
}

/** Sends one request and reports its outcome to the attempt. */
async function attemptRequest(
  channel: Channel,
  attempt: Attempt,
  request: UpstreamRequest,
): Promise<ChannelResponse> {
  let response: HttpResponse;
  try {
    response = await channel.request(request);
  } catch (error) {
    if (error instanceof Failure || request.signal.aborted) throw error;
    attempt.fail(failureKindOf(error));
    throw new NoResponseError(error);
  }
  const { status, headers, body } = response;
  if (!failWithStatus(attempt, status, headers)) attempt.succeed();
  // A disconnected client is not the channel's failure.
  body.onClose((error) => {
    const { code } = (error ?? {}) as NodeJS.ErrnoException;
    if (!request.signal.aborted && connectionLossCodes.has(code ?? '')) attempt.fail(failureKindOf(error));
  });
  return { channel, attempt, response, sent: request.body };
}

/** Reports a response with an error status to the attempt. Returns false if the channel did not fail. */
export function failWithStatus(attempt: Attempt, status: number, headers: IncomingHttpHeaders): boolean {
  const kind = failureKindOfStatus(status);
  if (kind === undefined) return false;
  attempt.fail(kind, allowsRetryAfter(status) ? readRetryAfter(headers) : undefined);
  return true;
}

/** Error codes of a response body that the upstream did not finish. */
const connectionLossCodes = new Set([
  'UND_ERR_SOCKET',
  'UND_ERR_BODY_TIMEOUT',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
]);

class NoResponseError extends Error {
  constructor(cause: unknown) {
    super('the upstream did not answer', { cause });
  }
}

/** Sets `retry-after` of a 429 response to the shortest wait of all channels. */
function shortenRetryAfterHeader(
  channelResponse: ChannelResponse,
  channels: readonly Channel[],
  scope: RequestScope,
): ChannelResponse {
  const { response } = channelResponse;
  const retryAfterSeconds = readRetryAfter(response.headers);
  if (response.status !== 429 || retryAfterSeconds === undefined) return channelResponse;
  const { status, retryAfter = retryAfterSeconds } = noCandidate(channels, scope);
  if (status !== 429 || retryAfter >= retryAfterSeconds) return channelResponse;
  const headers = { ...response.headers, 'retry-after': String(retryAfter) };
  return { ...channelResponse, response: { ...response, headers } };
}

/** Builds the failure for an upstream that did not respond, or whose response broke off. */
export function connectionFailure(cause: unknown): Failure {
  if (cause instanceof BusyError) {
    const message = 'Too many requests wait for the provider now.';
    return new Failure(503, 'get_channel_failed', message, { retryAfter: busyRetryAfter, cause });
  }
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const isTimeout =
    code === 'UND_ERR_HEADERS_TIMEOUT' ||
    code === 'UND_ERR_BODY_TIMEOUT' ||
    code === 'UND_ERR_CONNECT_TIMEOUT';
  return isTimeout
    ? new Failure(504, 'upstream_timeout', 'The provider did not answer in time.', { cause })
    : new Failure(502, 'do_request_failed', 'The provider could not be reached.', { cause });
}
