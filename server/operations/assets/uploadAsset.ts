import { stampedId } from '../../calls/assets/stamped-id.ts';
import { groupChannels, uploadChannels } from '../../calls/assets/upload-channels.ts';
import { type Created, createWithFailover } from '../../calls/create-with-failover.ts';
import type { Handler, OperationRequest } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';
import { type AssetUpload, uploadMedia } from '../../providers/official/assets.ts';
import { failureWithPublicIds } from '../../providers/public-ids.ts';
import type { AssetType } from '../../store/schema.ts';
import { persist } from '../../store/store.ts';

/** Attempts to find an unused id. Random collisions do not repeat that often. */
const maxAttempts = 5;

/**
 * Uploads media from a URL to a provider, without charge. The asset belongs to its user and its channel, and is stored before the
 * response is sent.
 */
export const uploadAsset: Handler<'uploadAsset'> = async (request, reply) => {
  const { body, query, gateway, caller } = request;
  const { url, name, asset_type, group_id: publicGroupId } = body;
  const user = caller.userId;
  const model = query.model ?? null;
  const usable = await uploadChannels(request, model);
  const { channels, groupId } =
    publicGroupId === undefined
      ? { channels: usable, groupId: undefined }
      : await groupChannels(request, publicGroupId, usable);
  const upload = { url, name, assetType: assetTypeOf(asset_type), model, groupId };
  const publicIds = groupId === undefined ? {} : { [groupId]: publicGroupId ?? '' };
  const id = await gateway.detachedCalls.run(async (signal) => {
    const scope = { user, model: model ?? 'assets' };
    const created = await createWithFailover(gateway.logger, channels, scope, (channel) =>
      uploadMedia({ channel, user, signal }, upload),
    ).catch((error: unknown) => {
      throw error instanceof Failure ? failureWithPublicIds(error, publicIds) : error;
    });
    return storeAsset(request, upload, created);
  });
  reply.json(200, { code: 0, message: 'success', data: { Id: id } });
};

/** Stores the asset durably and returns its public id. */
async function storeAsset(
  { gateway, caller, body }: OperationRequest<'uploadAsset'>,
  { assetType, name = '', model }: AssetUpload,
  { channel, result: upstreamId }: Created<string>,
): Promise<string> {
  const { userId, tokenId } = caller;
  const asset = { userId, tokenId, channel: channel.name, upstreamId, model, assetType, name };
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const now = gateway.clock();
    const id = stampedId('asset', now);
    const groupId = stampedId('group', now);
    const order = { ...asset, id, groupId, intoGroup: body.group_id, now };
    if (await persist(gateway.store, 'saveAsset', order)) return id;
  }
  throw new Error(`${maxAttempts} new asset ids were taken already`);
}

const types: readonly AssetType[] = ['Image', 'Video', 'Audio'];

function assetTypeOf(name: string): AssetType {
  const type = types.find((one) => one.toLowerCase() === name.toLowerCase());
  if (type === undefined) throw new Error('the contract allows no other type');
  return type;
}
