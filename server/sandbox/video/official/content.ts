import { invalidParameter } from '../../http/native-error.ts';
import type { MediaKind } from '../../media/media-facts.ts';
import type { Parameters } from '../../native/parameters.ts';
import { isDataUrl } from '../media-loader.ts';
import type { ModelBounds } from './model-bounds.ts';

export type Role = 'first_frame' | 'last_frame' | 'reference_image' | 'reference_video' | 'reference_audio';

export interface OfficialMedia {
  kind: MediaKind;
  role: Role;
  url: string;
  /** Where it stands in the request. */
  field: string;
}

export interface OfficialContent {
  /** The texts, joined. */
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

/** Reads `content`. Throws a `NativeError` for what the items alone show to be wrong. */
export function readContent(request: Parameters, bounds: ModelBounds): OfficialContent {
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
  // A single picture without a role is what the video begins with.
  const [only, ...others] = media;
  if (only?.kind === 'image' && !only.hasRole && others.length === 0) only.role = 'first_frame';
  checkCombination(media, bounds);
  return { prompt: texts.join('\n'), media: media.map(({ hasRole: _, ...item }) => item), draftTaskId };
}

function readMedia(item: Parameters, type: keyof typeof mediaTypes, field: string) {
  const { kind, roles, defaultRole } = mediaTypes[type];
  const place = item.requiredObject(type);
  const url = place.requiredString('url');
  if (/^data:/i.test(url)) {
    if (kind === 'video') throw place.invalid('url', 'must not be a data URL');
    if (!isDataUrl(url, kind)) throw place.invalid('url', `is no Base64 data URL of ${kind}`);
  } else if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) {
    throw place.invalid('url', 'must be a URL, an asset reference or a data URL');
  }
  return { kind, role: item.choice('role', roles, defaultRole), url, field, hasRole: item.has('role') };
}

function checkCombination(media: readonly OfficialMedia[], bounds: ModelBounds): void {
  const refuse = (problem: string) => invalidParameter(`content ${problem}`, 'content');
  const ofRole = (role: Role) => media.filter((item) => item.role === role).length;
  const ofKind = (kind: MediaKind) => media.filter((item) => item.kind === kind).length;
  const [first, last] = [ofRole('first_frame'), ofRole('last_frame')];
  if (first > 1 || last > 1) throw refuse('must not have more than one first_frame and one last_frame');
  if (last > 0 && first === 0) throw refuse('has a last_frame without a first_frame');
  if (first + last > 0 && first + last < media.length)
    throw refuse('cannot combine first_frame and last_frame with references');
  for (const [kind, max] of [
    ['image', bounds.images],
    ['video', bounds.videos],
    ['audio', bounds.audios],
  ] as const) {
    if (ofKind(kind) > max) throw refuse(`must not have more than ${max} items of ${kind}`);
  }
  if (!bounds.audioAlone && media.length > 0 && ofKind('audio') === media.length)
    throw refuse('must have an image or a video besides audio');
}
