import { models } from '../../../generated/catalogue.ts';
import type { Channel } from '../../channels/channel.ts';
import type { OperationRequest } from '../../http/handler.ts';
import { viewerOf } from '../../keys/caller.ts';
import { accessDenied, channelUnavailable, invalid } from '../../lib/failure.ts';
import { findModel, quoted } from '../../models/catalogue.ts';
import { latestAssetChannel } from '../../store/queries/assets.ts';
import { findVerifiedGroup } from '../../store/queries/verification-sessions.ts';
import { overseasModel } from './references.ts';

type UploadRequest = Pick<OperationRequest<'uploadAsset'>, 'gateway' | 'caller'>;

/** The Seedance models that use assets uploaded without a model. */
const defaultModels = models.filter(
  ({ id, protocols }) => protocols.includes('official') && id !== overseasModel,
);

/**
 * Returns the channels that can store an asset, in the order of preference: first the channel of the user's latest asset,
 * because a request can only refer to assets of one channel, then those that serve more models.
 *
 * @throws Failure 403 when the caller may not use any model for such assets
 */
export async function uploadChannels(
  { gateway: { access, channels, store }, caller }: UploadRequest,
  model: string | null,
): Promise<Channel[]> {
  if (model !== null) access.require(caller, { id: model });
  const usable = (model === null ? defaultModels : [findModel(model)]).filter(({ id }) =>
    access.allows(caller, id),
  );
  if (usable.length === 0) throw accessDenied('model: this key may not use any model for such assets.');
  const served = new Map<Channel, number>();
  for (const { id } of usable)
    for (const channel of channels.serving('official', id, caller.group))
      served.set(channel, (served.get(channel) ?? 0) + 1);
  const latest = await latestAssetChannel(store.read, { ...viewerOf(caller), model });
  const rank = (channel: Channel) =>
    channel.name === latest && channel.health.isHealthy
      ? Number.POSITIVE_INFINITY
      : (served.get(channel) ?? 0);
  return channels.order([...served.keys()]).toSorted((left, right) => rank(right) - rank(left));
}

/**
 * Returns the provider's id of a verified person's group, and those of the channels that lead to its account.
 *
 * @throws Failure 400 when the caller has no such group or no channel leads to its account, 503 when its channel was removed
 */
export async function groupChannels(
  { gateway, caller }: UploadRequest,
  groupId: string,
  channels: readonly Channel[],
): Promise<{ channels: Channel[]; groupId: string }> {
  const group = await findVerifiedGroup(gateway.store.read, { ...viewerOf(caller), groupId });
  if (group === undefined)
    throw invalid('group_id', `there is no group ${quoted(groupId)} of a verified person.`);
  const owner = gateway.channels.named(group.channel)?.settings;
  if (owner === undefined)
    throw channelUnavailable(`The provider that has the group ${quoted(groupId)} is not available.`);
  const ofAccount = channels.filter(
    ({ settings }) => settings.baseUrl === owner.baseUrl && settings.key === owner.key,
  );
  if (ofAccount.length === 0)
    throw invalid('group_id', `the provider that has ${quoted(groupId)} keeps no assets for this key.`);
  return { channels: ofAccount, groupId: group.upstreamId };
}
