import type { Gateway } from '../../http/gateway.ts';
import type { Caller } from '../../keys/caller.ts';
import { channelUnavailable, invalid } from '../../lib/failure.ts';
import { quoted } from '../../models/catalogue.ts';
import type { PublicIds } from '../../providers/public-ids.ts';
import type { GenericVideoRequest } from '../../providers/video.ts';
import type { AssetsTable, AssetType } from '../../store/schema.ts';
import { assetIdIn, findUsableAssets, stateProblem } from './references.ts';
import { refreshed } from './refresh-asset.ts';

/** The address that takes the place of another in a media field. */
type Replace = (url: string, field: string, takes: AssetType) => string;

/** A request whose media fields hold file links, and the words that stand for those links in messages. */
export interface LinkedRequest {
  body: GenericVideoRequest;
  publicIds: PublicIds;
}

/**
 * Replaces each asset reference in the media fields of a generic request with the link of the asset's file, for models
 * whose provider does not know assets. A link that is about to expire is renewed.
 *
 * @throws Failure 400 when an asset is unknown, another user's, not active or of the wrong type for its field; 503 when
 *   its link has expired and the provider does not send a new one
 */
export async function linkAssets(
  { gateway, caller }: { gateway: Gateway; caller: Caller },
  body: GenericVideoRequest,
): Promise<LinkedRequest> {
  const references: { id: string; field: string; takes: AssetType }[] = [];
  mapMedia(body, (url, field, takes) => {
    const id = assetIdIn(url);
    if (id !== undefined) references.push({ id, field, takes });
    return url;
  });
  if (references.length === 0) return { body, publicIds: {} };
  const found = await findUsableAssets(
    gateway,
    caller,
    references.map(({ id }) => id),
  );
  const urls = new Map<string, string>();
  for (const { id, field, takes } of references) {
    const asset = found.get(id);
    if (asset === undefined) throw invalid(field, `there is no asset ${quoted(id)}.`);
    const problem = stateProblem(asset, takes);
    if (problem !== undefined) throw invalid(field, `asset ${quoted(id)} ${problem}`);
    if (!urls.has(id)) urls.set(id, validUrl(await refreshed(gateway, asset), gateway.clock()));
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

/** @throws Failure 503 when there is no link that works */
function validUrl({ id, url, url_expires }: AssetsTable, now: number): string {
  if (url !== null && URL.canParse(url) && (url_expires ?? 0) > now) return url;
  throw channelUnavailable(`The provider that keeps ${quoted(id)} is not available.`);
}

/** A copy of the request with every address in its media fields replaced. */
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
