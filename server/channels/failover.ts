import { Failure } from '../failure.ts';
import { BusyError } from '../outbound/slots.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Channel, UpstreamRequest, UpstreamResponse } from './channel.ts';

/** At the most so many accounts are asked for one request. */
const attempts = 3;
/** Seconds after which to try again when no slot was free. */
const busyPause = 2;

export interface Answered {
  channel: Channel;
  response: UpstreamResponse;
  /** The body that was sent. */
  sent: unknown;
}

/**
 * Asks the channels in turn until one answers with something other than a failure of its own: no connection,
 * a refused key or account, throttling or a 5xx. The last answer is returned as it is, whatever it says.
 *
 * @throws Failure 503 when there is no channel, 502 or 504 when none answered.
 */
export async function requestInTurn(
  channels: readonly Channel[],
  build: (channel: Channel) => UpstreamRequest,
  logger: Logger,
): Promise<Answered> {
  let last: { channel: Channel; error: unknown } | undefined;
  const tried = channels.slice(0, attempts);
  for (const [index, channel] of tried.entries()) {
    const request = build(channel);
    try {
      const response = await channel.request(request);
      if (!isChannelFailure(response.status)) {
        channel.health.succeeded();
        return { channel, response, sent: request.body };
      }
      // Throttling says nothing about health, and a key may be refused for one model only.
      if (response.status >= 500) channel.health.failed();
      logger.warn({ channel: channel.name, status: response.status }, 'upstream failed');
      if (index === tried.length - 1) return { channel, response, sent: request.body };
      await response.body.dump();
    } catch (error) {
      if (error instanceof Failure || request.signal.aborted) throw error;
      // That it waited in vain says nothing of the provider.
      if (!(error instanceof BusyError)) channel.health.failed();
      logger.warn({ channel: channel.name, err: error }, 'upstream did not answer');
      last = { channel, error };
    }
  }
  if (last === undefined) {
    throw new Failure(503, 'get_channel_failed', 'No channel can serve the model now.', { retryAfter: 1 });
  }
  throw unanswered(last.error);
}

function isChannelFailure(status: number): boolean {
  return [401, 402, 403, 429].includes(status) || status >= 500;
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
