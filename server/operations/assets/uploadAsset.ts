import { models } from '../../../generated/catalogue.ts';
import { overseasModel } from '../../calls/assets/references.ts';
import { stampedId } from '../../calls/assets/stamped-id.ts';
import { type Created, createWithFailover } from '../../calls/create-with-failover.ts';
import type { Channel } from '../../channels/channel.ts';
import type { Handler, OperationRequest } from '../../http/handler.ts';
import { viewerOf } from '../../keys/caller.ts';
import { channelUnavailable, Failure, invalid } from '../../lib/failure.ts';
import { findModel, quoted } from '../../models/catalogue.ts';
import { type AssetUpload, uploadMedia } from '../../providers/official/assets.ts';
import { failureWithPublicIds } from '../../providers/public-ids.ts';
import { latestAssetChannel } from '../../store/queries/assets.ts';
import { findVerifiedGroup } from '../../store/queries/verification-sessions.ts';
import type { AssetType } from '../../store/schema.ts';
import { persist } from '../../store/store.ts';

type Request = OperationRequest<'uploadAsset'>;

/** So many ids are tried: that a few in a row are taken does not happen by chance. */
const maxIds = 5;

/** The Seedance models that use the assets uploaded without a model. */
const homeModels = models.filter(
  ({ id, protocols }) => protocols.includes('official') && id !== overseasModel,
);

/**
 * Has a provider keep the media behind an address. Nothing is charged. The asset belongs to its user and to the
 * channel it was uploaded to; it is on disk before its id is answered.
 */
export const uploadAsset: Handler<'uploadAsset'> = async (request, reply) => {
  const { body, query, gateway, caller } = request;
  const { url, name, asset_type } = body;
  const model = query.model ?? null;
  const usable = await channelsFor(request, model);
  const { channels, groupId } =
    body.group_id === undefined
      ? { channels: usable, groupId: undefined }
      : await withGroup(request, body.group_id, usable);
  const upload = { url, name, assetType: typeNamed(asset_type), model, groupId };
  const publicIds = groupId === undefined ? {} : { [groupId]: body.group_id ?? '' };
  const id = await gateway.detachedCalls.run(async (signal) => {
    const asked = { user: caller.userId, model: model ?? 'assets' };
    const created = await createWithFailover(gateway.logger, channels, asked, (channel) =>
      uploadMedia({ channel, user: caller.userId, signal }, upload),
    ).catch((error: unknown) => {
      throw error instanceof Failure ? failureWithPublicIds(error, publicIds) : error;
    });
    return keep(request, upload, created);
  });
  reply.json(200, { code: 0, message: 'success', data: { Id: id } });
};

/** Notes the asset durably, and gives its public id. */
async function keep(
  { gateway, caller, body }: Request,
  { assetType, name, model }: AssetUpload,
  { channel, result: upstreamId }: Created<string>,
): Promise<string> {
  for (let tries = 0; tries < maxIds; tries += 1) {
    const now = gateway.clock();
    const id = stampedId('asset', now);
    const saved = await persist(gateway.store, 'saveAsset', {
      id,
      userId: caller.userId,
      tokenId: caller.tokenId,
      channel: channel.name,
      upstreamId,
      model,
      assetType,
      name: name ?? '',
      groupId: stampedId('group', now),
      intoGroup: body.group_id,
      now,
    });
    if (saved) return id;
  }
  throw new Error(`${maxIds} new asset ids were taken already`);
}

/**
 * The provider's id of a verified person's group, and the channels to the account that has it.
 *
 * @throws Failure 400 when the caller has no such group, or no channel to its account keeps assets; 503 when its channel
 *   is there no more
 */
async function withGroup(
  { gateway, caller }: Request,
  groupId: string,
  usable: readonly Channel[],
): Promise<{ channels: Channel[]; groupId: string }> {
  const group = await findVerifiedGroup(gateway.store.read, { ...viewerOf(caller), groupId });
  if (group === undefined)
    throw invalid('group_id', `there is no group ${quoted(groupId)} of a verified person.`);
  const home = gateway.channels.named(group.channel)?.settings;
  if (home === undefined)
    throw channelUnavailable(`The provider that has the group ${quoted(groupId)} is not available.`);
  const channels = usable.filter(
    ({ settings }) => settings.baseUrl === home.baseUrl && settings.key === home.key,
  );
  if (channels.length === 0)
    throw invalid('group_id', `the provider that has ${quoted(groupId)} keeps no assets for this key.`);
  return { channels, groupId: group.upstreamId };
}

const types: readonly AssetType[] = ['Image', 'Video', 'Audio'];

function typeNamed(word: string): AssetType {
  const type = types.find((one) => one.toLowerCase() === word.toLowerCase());
  if (type === undefined) throw new Error('the contract lets no other type pass');
  return type;
}

/**
 * The channels that can keep an asset, in the order in which they are to be asked: where the user's latest asset
 * is comes first, because a request can only refer to assets of one channel; then those that serve more models.
 *
 * @throws Failure 403 when the caller may use no model that takes the asset, 503 when no channel serves one
 */
async function channelsFor(
  { gateway: { access, channels, store }, caller }: Request,
  model: string | null,
): Promise<Channel[]> {
  if (model !== null) access.require(caller, { id: model });
  const usable = (model === null ? homeModels : [findModel(model)]).filter(({ id }) =>
    access.allows(caller, id),
  );
  if (usable.length === 0) {
    throw new Failure(403, 'access_denied', 'model: this key may use no model that takes such assets.');
  }
  const served = new Map<Channel, number>();
  for (const { id } of usable) {
    for (const channel of channels.serving('official', id, caller.group)) {
      served.set(channel, (served.get(channel) ?? 0) + 1);
    }
  }
  const latest = await latestAssetChannel(store.read, { ...viewerOf(caller), model });
  const rank = (channel: Channel) =>
    channel.name === latest && channel.health.isHealthy
      ? Number.POSITIVE_INFINITY
      : (served.get(channel) ?? 0);
  return channels.order([...served.keys()]).toSorted((left, right) => rank(right) - rank(left));
}
