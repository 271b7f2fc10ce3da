import type { components } from '../../../generated/http.ts';
import { refreshAsset } from '../../calls/assets/refresh-asset.ts';
import type { Handler } from '../../http/handler.ts';
import { viewerOf } from '../../keys/caller.ts';
import { notFound } from '../../lib/failure.ts';
import type { FileLinks } from '../../media/file-links.ts';
import { quoted } from '../../models/catalogue.ts';
import { linksFor } from '../../providers/client-links.ts';
import { findAssets } from '../../store/queries/assets.ts';
import type { AssetsTable } from '../../store/schema.ts';

/** Returns one of the caller's assets. Assets of other users do not exist for it. */
export const getAsset: Handler<'getAsset'> = async (request, reply) => {
  const { path, gateway, caller } = request;
  const [asset] = await findAssets(gateway.store.read, { ids: [path.id], ...viewerOf(caller) });
  if (asset === undefined) throw notFound('id', `there is no asset ${quoted(path.id)}.`);
  const { baseUrl } = gateway.channels.named(asset.channel)?.settings ?? {};
  const data = viewAsset(await refreshAsset(gateway, asset), baseUrl, linksFor(request));
  reply.json(200, { code: 0, message: 'success', data });
};

/** Renders an asset. `baseUrl` is the address of its channel. */
function viewAsset(
  asset: AssetsTable,
  baseUrl: string | undefined,
  links: FileLinks,
): components['schemas']['Asset'] {
  const { url, error_code, error_message, channel, user_id: userId, url_expires: expiresAt } = asset;
  // A provider may return the client's own URL, which must not lead into the provider's network.
  const publicOnly = !hasSameOrigin(url ?? '', baseUrl ?? '');
  return {
    Id: asset.id,
    AssetType: asset.asset_type,
    Status: asset.status,
    Name: asset.name,
    GroupId: asset.group_id,
    ProjectName: asset.project_name,
    CreateTime: isoTime(asset.created_at),
    UpdateTime: isoTime(asset.updated_at),
    ...(url !== null && { URL: links.publicUrl(url, { channel, userId, expiresAt, publicOnly }) }),
    ...(error_code !== null && { Error: { Code: error_code, Message: error_message ?? '' } }),
  };
}

function hasSameOrigin(one: string, other: string): boolean {
  const origin = URL.parse(one)?.origin;
  return origin !== undefined && origin === URL.parse(other)?.origin;
}

/** ISO 8601 in UTC, to the second. */
function isoTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}
