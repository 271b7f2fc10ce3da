import type { Gateway } from '../../http/gateway.ts';
import type { Caller } from '../../keys/caller.ts';
import { channelUnavailable } from '../../lib/failure.ts';
import { quoted } from '../../models/catalogue.ts';
import type { PublicIds } from '../../providers/public-ids.ts';
import type { GenericVideoRequest } from '../../providers/video.ts';
import type { AssetsTable, AssetType } from '../../store/schema.ts';
import { assetIdIn, findUsableAssets, requireUsable } from './references.ts';
import { refreshAsset } from './refresh-asset.ts';

/** Returns the replacement for a URL in a media field. */
type Replace = (url: string, field: string, accepts: AssetType) => string;

/** A request with file links in its media fields, and the replacements for the links in messages. */
export interface LinkedRequest {
  body: GenericVideoRequest;
  publicIds: PublicIds;
}

/**
 * Replaces asset references in the media fields of a generic request with links to their files, for providers without
 * assets. Renews a link that is about to expire.
 *
 * @throws Failure 400 when an asset is unknown, another user's, not active or of the wrong type for its field. 503 when
 *   its link has expired and the provider does not return a new one.
 */
export async function linkAssets(
  { gateway, caller }: { gateway: Gateway; caller: Caller },
  body: GenericVideoRequest,
): Promise<LinkedRequest> {
  const references: { id: string; field: string; accepts: AssetType }[] = [];
  mapMedia(body, (url, field, accepts) => {
    const id = assetIdIn(url);
    if (id !== undefined) references.push({ id, field, accepts });
    return url;
  });
  if (references.length === 0) return { body, publicIds: {} };
  const found = await findUsableAssets(
    gateway,
    caller,
    references.map(({ id }) => id),
  );
  const urls = new Map<string, string>();
  for (const reference of references) {
    const asset = requireUsable(found, reference);
    if (!urls.has(asset.id))
      urls.set(asset.id, requireValidUrl(await refreshAsset(gateway, asset), gateway.clock()));
  }
  const linked = mapMedia(body, (url) => urls.get(assetIdIn(url) ?? '') ?? url);
  const publicIds = Object.fromEntries(
    [...urls].flatMap(([id, url]) => [
      [url, `asset://${id}`],
      [new URL(url).host, '***'],
    ]),
  );
  return { body: linked, publicIds };
}

/** @throws Failure 503 when the link is missing or expired */
function requireValidUrl({ id, url, url_expires }: AssetsTable, now: number): string {
  if (url !== null && URL.canParse(url) && (url_expires ?? 0) > now) return url;
  throw channelUnavailable(`The provider of ${quoted(id)} is not available.`);
}

/** Returns a copy of the request with every URL in its media fields replaced. */
function mapMedia(request: GenericVideoRequest, replace: Replace): GenericVideoRequest {
  const { image, images, input_reference, reference_images, video } = request;
  return {
    ...request,
    ...(image !== undefined && { image: replace(image, 'image', 'Image') }),
    ...(images !== undefined && {
      images: images.map((url, index) => replace(url, `images.${index}`, 'Image')),
    }),
    ...(input_reference !== undefined && {
      input_reference: {
        ...input_reference,
        image_url: replace(input_reference.image_url, 'input_reference.image_url', 'Image'),
      },
    }),
    ...(reference_images !== undefined && {
      reference_images: reference_images.map((item, index) => ({
        ...item,
        url: replace(item.url, `reference_images.${index}.url`, 'Image'),
      })),
    }),
    ...(video !== undefined && { video: { ...video, url: replace(video.url, 'video.url', 'Video') } }),
  };
}
