import type { Channel } from '../channels/channel.ts';
import { candidates, noCandidate, withShortestRetryAfter } from '../channels/failover.ts';
import type { RequestScope } from '../channels/pauses.ts';
import type { Failure } from '../lib/failure.ts';
import { noteDriverError } from '../tasks/driver.ts';
import type { Logger } from '../telemetry/logger.ts';

/** What a provider made, and where it is. */
export interface Created<Made> {
  channel: Channel;
  made: Made;
}

/**
 * Has the first channel that takes it make something. Another one is asked only when certainly nothing came of it, so
 * that nothing is made twice.
 *
 * @throws Failure 429 or 503 without a channel to ask now, else what the last one asked gives reason for
 */
export async function createInTurn<Made>(
  logger: Logger,
  channels: readonly Channel[],
  asked: RequestScope,
  create: (channel: Channel) => Promise<Made>,
): Promise<Created<Made>> {
  let failure: Failure | undefined;
  for (const turn of candidates(channels, asked)) {
    const { channel, attempt } = turn;
    try {
      const made = await create(channel);
      attempt.succeed();
      return { channel, made };
    } catch (error) {
      const refusal = noteDriverError(logger, error, turn, 'upstream made nothing');
      failure = refusal.failure;
      if (refusal.kind !== 'retryable') break;
    }
  }
  throw failure === undefined
    ? noCandidate(channels, asked)
    : withShortestRetryAfter(failure, channels, asked);
}
