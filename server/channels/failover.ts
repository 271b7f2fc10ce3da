import { Failure, NoChannelFailure } from '../lib/failure.ts';
import type { HttpResponse } from '../outbound/send-request.ts';
import { BusyError } from '../outbound/slots.ts';
import type { Logger } from '../telemetry/logger.ts';
import { channelRefusals } from '../telemetry/metrics.ts';
import type { Channel, UpstreamRequest } from './channel.ts';
import {
  allowsRetryAfter,
  type FailureKind,
  failureKindOf,
  wasNeverSent,
  wasRejectedBeforeWork,
} from './failure-kinds.ts';
import type { Attempt } from './health.ts';
import { type LimitRefusal, limitFailure, limitNames, Permit, type WorkKind } from './limits.ts';
import type { RequestScope } from './pauses.ts';
import { failureKindOfResponse } from './refusals.ts';
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

/** A candidate with a place within the limits of its channel, which is released before the next one unless it is kept. */
export interface AdmittedCandidate extends Candidate {
  permit: Permit;
}

/** A search for the channel that serves a request. */
export interface CandidateSearch {
  channels: readonly Channel[];
  scope: RequestScope;
  /** Default: `call`. */
  kind?: WorkKind;
  /** Another model serves the request if no healthy channel does, so no attempt is forced. */
  hasFallback?: boolean | undefined;
  /** The limits that refused the request so far. */
  refusals: LimitRefusal[];
}

/**
 * Yields healthy channels in the given order, then the others as far as a forced attempt is allowed. Skips channels whose
 * limits refuse the request.
 */
export async function* candidates(search: CandidateSearch): AsyncGenerator<AdmittedCandidate, void, void> {
  const { channels, scope } = search;
  let remaining = maxAttempts;
  const skipped: Channel[] = [];
  const phases = [
    { list: channels, start: ({ health }: Channel) => health.admit(scope) },
    { list: skipped, start: ({ health }: Channel) => health.forceAttempt(scope) },
  ];
  if (search.hasFallback) phases.pop();
  for (const { list, start } of phases)
    for (const channel of list) {
      if (remaining === 0) return;
      const attempt = start(channel);
      if (attempt === undefined) {
        if (list === channels) skipped.push(channel);
        continue;
      }
      const permit = await channel.limiter.acquire(search.kind ?? 'call');
      if (!(permit instanceof Permit)) {
        attempt.finish();
        search.refusals.push(permit);
        channelRefusals.add(1, {
          'unigate.channel': channel.name,
          'unigate.limit': limitNames[permit.limit],
        });
        continue;
      }
      remaining -= 1;
      try {
        yield { channel, attempt, permit };
      } finally {
        permit.finish();
      }
    }
}

/** Builds the failure for a request without a candidate: 429 if limits or all providers refuse it, else 503. */
export function noCandidate({
  channels,
  scope,
  refusals,
}: Pick<CandidateSearch, 'channels' | 'scope' | 'refusals'>): Failure {
  if (refusals.length > 0) return limitFailure(refusals);
  const waits = channels.map(({ health }) => health.retryDelay(scope));
  const retryAfter = Math.max(1, Math.ceil(Math.min(...waits.map(({ ms }) => ms), 300_000) / 1_000));
  if (waits.length > 0 && waits.every(({ throttled }) => throttled)) {
    const message = 'The provider takes no more requests now.';
    return new NoChannelFailure(429, 'rate_limit_exceeded', message, { retryAfter });
  }
  return new NoChannelFailure(503, 'get_channel_failed', 'No channel can serve the model now.', {
    retryAfter: waits.length > 0 ? retryAfter : 1,
  });
}

/** Shortens the `retryAfter` of a 429 to the shortest wait of all channels, if all throttle the user. */
export function withShortestRetryAfter(failure: Failure, search: CandidateSearch): Failure {
  if (failure.status !== 429) return failure;
  const shortest = noCandidate(search);
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
  /** See `CandidateSearch`. */
  hasFallback?: boolean | undefined;
}

/**
 * Sends the request to one candidate after the other, until one responds without a failure of its own (see
 * `failureKindOfResponse`). Returns the last response, with the shortest `retry-after` of all channels.
 *
 * @throws Failure 429 or 503 when there is no candidate, 502 or 504 when none responded.
 */
export async function requestWithFailover(
  channels: readonly Channel[],
  build: (channel: Channel) => UpstreamRequest,
  logger: Logger,
  { atMostOnce = false, hasFallback, ...scope }: FailoverOptions = {},
): Promise<ChannelResponse> {
  let last: ChannelResponse | { error: unknown } | undefined;
  const search: CandidateSearch = { channels, scope, hasFallback, refusals: [] };
  for await (const { channel, attempt, permit } of candidates(search)) {
    if (last !== undefined && 'response' in last) await last.response.body.dump();
    try {
      const request = build(channel);
      const channelResponse = await attemptRequest(channel, attempt, request);
      channelResponse.response.body.onClose(permit.keep());
      const { status } = channelResponse.response;
      last = channelResponse;
      const { failureKind } = channelResponse;
      if (failureKind === undefined) return channelResponse;
      logger.warn({ channel: channel.name, status, failure: failureKind }, 'upstream failed');
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
  if (last === undefined) throw noCandidate(search);
  if ('error' in last) throw connectionFailure(last.error);
  return shortenRetryAfterHeader(last, search);
}

/** Sends one request and reports its outcome to the attempt. */
async function attemptRequest(
  channel: Channel,
  attempt: Attempt,
  request: UpstreamRequest,
): Promise<ChannelResponse & Pick<FailedResponse, 'failureKind'>> {
  let response: HttpResponse;
  try {
    response = await channel.request(request);
  } catch (error) {
    if (error instanceof Failure || request.signal.aborted) throw error;
    attempt.fail(failureKindOf(error));
    throw new NoResponseError(error);
  }
  const { status, headers, body } = response;
  const failureKind = await failureKindOfResponse(response);
  if (!failWithStatus(attempt, { status, headers, failureKind })) attempt.succeed();
  // A disconnected client is not the channel's failure.
  body.onClose((error) => {
    const { code } = (error ?? {}) as NodeJS.ErrnoException;
    if (!request.signal.aborted && connectionLossCodes.has(code ?? '')) attempt.fail(failureKindOf(error));
  });
  return { channel, attempt, response, sent: request.body, failureKind };
}

interface FailedResponse extends Pick<HttpResponse, 'status' | 'headers'> {
  /** Undefined: the channel did not fail. */
  failureKind: FailureKind | undefined;
}

/** Reports a response with an error status to the attempt. Returns false if the channel did not fail. */
export function failWithStatus(attempt: Attempt, { status, headers, failureKind }: FailedResponse): boolean {
  if (failureKind === undefined) return false;
  attempt.fail(failureKind, allowsRetryAfter(status) ? readRetryAfter(headers) : undefined);
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
function shortenRetryAfterHeader(channelResponse: ChannelResponse, search: CandidateSearch): ChannelResponse {
  const { response } = channelResponse;
  const retryAfterSeconds = readRetryAfter(response.headers);
  if (response.status !== 429 || retryAfterSeconds === undefined) return channelResponse;
  const { status, retryAfter = retryAfterSeconds } = noCandidate(search);
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
