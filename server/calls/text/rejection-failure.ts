import type { ChannelResponse } from '../../channels/failover.ts';
import type { Failure } from '../../lib/failure.ts';
import { redactorFor } from '../../providers/provider-redactor.ts';
import { failureWithPublicIds } from '../../providers/public-ids.ts';
import { readRejection, rejectionFailure } from '../../providers/rejection.ts';

/** Builds the client's failure from an unsuccessful response, with the public id of the model. */
export async function rejectionFailureOf(channelResponse: ChannelResponse, model: string): Promise<Failure> {
  const failure = rejectionFailure(
    await readRejection(channelResponse.response, redactorFor(channelResponse)),
  );
  const upstreamName = channelResponse.channel.upstreamModel(model);
  return upstreamName === model ? failure : failureWithPublicIds(failure, { [upstreamName]: model });
}
