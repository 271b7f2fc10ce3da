import type { components } from '../../../generated/http.ts';
import { invalid } from '../../lib/failure.ts';
import { conflict, requireAddress } from '../../models/media-rules.ts';
import type { ModelBounds } from './model-bounds.ts';

export type ContentItem = components['schemas']['OfficialContentItem'];

/** An item of official content and the client's field that it comes from. */
export interface ContentSource {
  item: ContentItem;
  /** For example `content.1` or `reference_images.0`. */
  field: string;
}

type Kind = 'image' | 'video' | 'audio';

const kinds: Readonly<Partial<Record<ContentItem['type'], Kind>>> = {
  image_url: 'image',
  video_url: 'video',
  audio_url: 'audio',
};
const megabyte = 1024 * 1024;
/** Limits of inline media, in MB: those of uploaded assets. */
const maxMb = { image: 30, audio: 15 } as const;

/** Names the items of official content by their position. `path` is the path of the list. */
export function contentSources(content: readonly ContentItem[], path: string): ContentSource[] {
  return content.map((item, index) => ({ item, field: `${path}.${index}` }));
}

/**
 * Checks the combinations, counts and inline media that the schema cannot check.
 *
 * @throws Failure 400 that names the field and the limit, `invalid_media_combination` for invalid frames
 */
export function checkContent(sources: readonly ContentSource[], bounds: ModelBounds): void {
  const media = sources.filter(({ item }) => kinds[item.type] !== undefined);
  checkFrames(media);
  for (const [kind, most] of [
    ['image', bounds.images],
    ['video', bounds.videos],
    ['audio', bounds.audios],
  ] as const) {
    const over = media.filter(({ item }) => kinds[item.type] === kind)[most];
    if (over !== undefined) throw invalid(over.field, `the model takes at most ${most} items of ${kind}.`);
  }
  const over = media[bounds.files];
  if (over !== undefined) throw invalid(over.field, `the model takes at most ${bounds.files} files in all.`);
  const [first] = media;
  if (first !== undefined && !bounds.audioAlone && media.every(({ item }) => item.type === 'audio_url'))
    throw invalid(first.field, 'the model takes audio only together with an image or a video.');
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
  if (reference !== undefined)
    throw conflict(
      reference.field,
      `a reference cannot be combined with the first or last frame in ${frame.field}.`,
    );
  if (!hasFirstFrame(media)) throw conflict(frame.field, 'a last_frame needs a first_frame.');
}

/** Checks the kind of a URL, and the type and size of a data URL. */
function checkUrl({ item, field }: ContentSource): void {
  if (item.type === 'image_url') checkData(item.image_url.url, 'image', field);
  if (item.type === 'video_url') requireAddress(item.video_url.url, field, ['web', 'asset']);
  if (item.type === 'audio_url') checkData(item.audio_url.url, 'audio', field);
}

function checkData(url: string, kind: 'image' | 'audio', field: string): void {
  requireAddress(url, field, ['web', 'asset', kind]);
  if (!/^data:/i.test(url)) return;
  const [head] = new RegExp(`^data:${kind}/[^,]{1,200};base64,`, 'i').exec(url.slice(0, 300)) ?? [];
  if (head === undefined) throw invalid(field, `must be a URL or a Base64 data URL of ${kind}.`);
  if ((url.length - head.length) * 0.75 > maxMb[kind] * megabyte)
    throw invalid(field, `inline ${kind} must have at most ${maxMb[kind]} MB.`);
}
