import { invalidParameter } from '../../http/native-error.ts';
import type { MediaKind } from '../../media/media-facts.ts';
import type { Parameters } from '../../native/parameters.ts';
import { isDataUrl } from '../media-loader.ts';
import type { ModelLimits } from './model-limits.ts';

export type Role = 'first_frame' | 'last_frame' | 'reference_image' | 'reference_video' | 'reference_audio';

export interface OfficialMedia {
  kind: MediaKind;
  role: Role;
  url: string;
  /** Path of the field in the request. */
  field: string;
}

export interface OfficialContent {
  /** Concatenated texts. */
  prompt: string;
  media: readonly OfficialMedia[];
  /** The finished draft to start from. */
  draftTaskId: string | undefined;
}

const maxItems = 100;
const types = ['text', 'image_url', 'video_url', 'audio_url', 'draft_task'] as const;

interface MediaType {
  kind: MediaKind;
  roles: readonly Role[];
  defaultRole: Role;
}

const mediaTypes: Readonly<Record<'image_url' | 'video_url' | 'audio_url', MediaType>> = {
  image_url: {
    kind: 'image',
    roles: ['first_frame', 'last_frame', 'reference_image'],
    defaultRole: 'reference_image',
  },
  video_url: { kind: 'video', roles: ['reference_video'], defaultRole: 'reference_video' },
  audio_url: { kind: 'audio', roles: ['reference_audio'], defaultRole: 'reference_audio' },
};

/** Reads `content`. Throws a `NativeError` if an item is invalid. */
export function readContent(request: Parameters, bounds: ModelLimits): OfficialContent {
  const texts: string[] = [];
  const media: (OfficialMedia & { hasRole: boolean })[] = [];
  let draftTaskId: string | undefined;
  for (const [index, item] of request.objects('content', maxItems).entries()) {
    const type = item.optionalChoice('type', types);
    if (type === undefined) throw item.invalid('type', 'is required');
    if (type === 'text') texts.push(item.requiredString('text'));
    else if (type === 'draft_task') draftTaskId = item.requiredObject('draft_task').requiredString('id');
    else media.push(readMedia(item, type, `content[${index}].${type}.url`));
  }
  // A single image without a role is the first frame.
  const [only, ...others] = media;
  if (only?.kind === 'image' && !only.hasRole && others.length === 0) only.role = 'first_frame';
  validateCombination(media, bounds);
  return { prompt: texts.join('\n'), media: media.map(({ hasRole: _, ...item }) => item), draftTaskId };
}

function readMedia(item: Parameters, type: keyof typeof mediaTypes, field: string) {
  const { kind, roles, defaultRole } = mediaTypes[type];
  const place = item.requiredObject(type);
  const url = place.requiredString('url');
  if (/^data:/i.test(url)) {
    if (kind === 'video') throw place.invalid('url', 'must not be a data URL');
    if (!isDataUrl(url, kind)) throw place.invalid('url', `must be a Base64 data URL of ${kind}`);
  } else if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) {
    throw place.invalid('url', 'must be a URL, an asset reference or a data URL');
  }
  return { kind, role: item.choice('role', roles, defaultRole), url, field, hasRole: item.has('role') };
}

function validateCombination(media: readonly OfficialMedia[], bounds: ModelLimits): void {
  const createError = (problem: string) => invalidParameter(`content ${problem}`, 'content');
  const ofRole = (role: Role) => media.filter((item) => item.role === role).length;
  const ofKind = (kind: MediaKind) => media.filter((item) => item.kind === kind).length;
  const [first, last] = [ofRole('first_frame'), ofRole('last_frame')];
  if (first > 1 || last > 1) throw createError('must not have more than one first_frame and one last_frame');
  if (last > 0 && first === 0) throw createError('has a last_frame without a first_frame');
  if (first + last > 0 && first + last < media.length)
    throw createError('cannot combine first_frame and last_frame with references');
  for (const [kind, max] of [
    ['image', bounds.images],
    ['video', bounds.videos],
    ['audio', bounds.audios],
  ] as const) {
    if (ofKind(kind) > max) throw createError(`must not have more than ${max} items of ${kind}`);
  }
  if (!bounds.audioAlone && media.length > 0 && ofKind('audio') === media.length)
    throw createError('must contain an image or a video in addition to audio');
}
