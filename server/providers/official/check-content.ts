import type { components } from '../../../generated/http.ts';
import { invalid } from '../../lib/failure.ts';
import {
  audioAlone,
  checkDataUrl,
  lastFrameAlone,
  referenceConflict,
  requireAddress,
} from '../../models/media-rules.ts';
import type { ModelBounds } from './model-bounds.ts';

export type ContentItem = components['schemas']['OfficialContentItem'];

/** An item of official content and the client's field that it comes from. */
export interface ContentSource {
  item: ContentItem;
  /** For example `content.1` or `reference_images.0`. */
  field: string;
}

const kinds = ['image', 'video', 'audio'] as const;
/** Limits of inline media, in MB: those of uploaded assets. */
const maxMb = { image: 30, audio: 15 } as const;

/** Names the items of official content by their position. `path` is the path of the list. */
export function contentSources(content: readonly ContentItem[], path: string): ContentSource[] {
  return content.map((item, index) => ({ item, field: `${path}.${index}` }));
}

/** Checks the combinations, counts and inline media that the schema cannot check. @throws Failure 400 */
export function checkContent(sources: readonly ContentSource[], bounds: ModelBounds): void {
  const media = sources.filter(({ item }) => item.type.endsWith('_url'));
  checkFrames(media);
  for (const kind of kinds) {
    const most = bounds[kind];
    const over = media.filter(({ item }) => item.type === `${kind}_url`)[most];
    if (over !== undefined) throw invalid(over.field, `the model takes at most ${most} items of ${kind}.`);
  }
  const over = media[bounds.files];
  if (over !== undefined) throw invalid(over.field, `the model takes at most ${bounds.files} files in all.`);
  const [first] = media;
  if (first !== undefined && !bounds.audioAlone && media.every(({ item }) => item.type === 'audio_url'))
    throw audioAlone(first.field);
  for (const source of media) checkUrl(source);
}

export function hasFirstFrame(sources: readonly ContentSource[]): boolean {
  return sources.some(({ item }) => item.type === 'image_url' && item.role === 'first_frame');
}

function checkFrames(media: readonly ContentSource[]): void {
  const frame = media.find(({ item }) => item.type === 'image_url' && item.role?.endsWith('_frame'));
  if (frame === undefined) return;
  // The provider decides about an image without a role.
  const reference = media.find(({ item }) => item.type !== 'image_url' || item.role === 'reference_image');
  if (reference !== undefined) throw referenceConflict(reference.field, frame.field);
  if (!hasFirstFrame(media)) throw lastFrameAlone(frame.field);
}

/** Checks the kind of a URL, and the type and size of a data URL. */
function checkUrl({ item, field }: ContentSource): void {
  if (item.type === 'image_url') checkInlineMedia(item.image_url.url, 'image', field);
  if (item.type === 'video_url') requireAddress(item.video_url.url, field, ['web', 'asset']);
  if (item.type === 'audio_url') checkInlineMedia(item.audio_url.url, 'audio', field);
}

function checkInlineMedia(url: string, kind: 'image' | 'audio', field: string): void {
  requireAddress(url, field, ['web', 'asset', kind]);
  checkDataUrl(url, field, kind, maxMb[kind]);
}
