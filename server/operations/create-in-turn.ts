import type { Channel } from '../channels/channel.ts';
import { Failure } from '../failure.ts';
import type { Logger } from '../runtime/logger.ts';
import { noteDriverError } from '../tasks/driver.ts';

/** At the most so many accounts are asked for one thing. */
const maxChannels = 3;

/** What a provider made, and where it is. */
export interface Created<Made> {
  channel: Channel;
  made: Made;
}

/**
 * Has the first channel that takes it make something. Another one is asked only when certainly nothing came of it, so
 * that nothing is made twice.
 *
 * @throws Failure 503 without a channel, else what the last one asked gives reason for
 */
export async function createInTurn<Made>(
  logger: Logger,
  channels: readonly Channel[],
  create: (channel: Channel) => Promise<Made>,
): Promise<Created<Made>> {
  let failure: Failure = new Failure(503, 'get_channel_failed', 'No channel can take the request now.', {
    retryAfter: 1,
  });
  for (const channel of channels.slice(0, maxChannels)) {
    try {
      const made = await create(channel);
      channel.health.succeeded();
      return { channel, made };
    } catch (error) {
      const refusal = noteDriverError(logger, error, channel, 'upstream made nothing');
      failure = refusal.failure;
      if (refusal.kind !== 'retryable') break;
    }
  }
  throw failure;
}
