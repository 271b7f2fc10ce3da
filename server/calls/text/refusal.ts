import type { ChannelResponse } from '../../channels/failover.ts';
import type { Failure } from '../../lib/failure.ts';
import { wordsOf } from '../../providers/provider-words.ts';
import { failureWithPublicIds } from '../../providers/public-ids.ts';
import { readRejection, rejectionFailure } from '../../providers/rejection.ts';

/** What a client is told of an answer that is no success, with the public id of the model in the place of its own. */
export async function refusalOf(answered: ChannelResponse, model: string): Promise<Failure> {
  const failure = rejectionFailure(await readRejection(answered.response, wordsOf(answered)));
  const upstreamName = answered.channel.upstreamModel(model);
  return upstreamName === model ? failure : failureWithPublicIds(failure, { [upstreamName]: model });
}
