import type { Channel } from '../channels/channel.ts';
import {
  type CandidateSearch,
  candidates,
  noCandidate,
  withShortestRetryAfter,
} from '../channels/failover.ts';
import type { RequestScope } from '../channels/pauses.ts';
import type { Failure } from '../lib/failure.ts';
import { reportDriverError } from '../tasks/driver.ts';
import type { Logger } from '../telemetry/logger.ts';

/** A created object and the channel that has it. */
export interface Created<Result> {
  channel: Channel;
  result: Result;
}

/**
 * Creates an object on the first channel that accepts it. Fails over only if the previous channel certainly created
 * nothing, so no object is created twice.
 *
 * @throws Failure 429 or 503 without a candidate, otherwise the failure of the last one
 */
export async function createWithFailover<Result>(
  logger: Logger,
  channels: readonly Channel[],
  scope: RequestScope,
  create: (channel: Channel) => Promise<Result>,
): Promise<Created<Result>> {
  let failure: Failure | undefined;
  const search: CandidateSearch = { channels, scope, refusals: [] };
  for await (const candidate of candidates(search)) {
    const { channel, attempt } = candidate;
    try {
      const result = await create(channel);
      attempt.succeed();
      return { channel, result };
    } catch (error) {
      const driverError = reportDriverError(logger, error, candidate, 'upstream created nothing');
      failure = driverError.failure;
      if (driverError.kind !== 'retryable') break;
    }
  }
  throw failure === undefined ? noCandidate(search) : withShortestRetryAfter(failure, search);
}
