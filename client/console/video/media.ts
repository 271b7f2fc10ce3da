import { APIError } from '../../index.ts';
import type { JsonObject } from '../contract/form.ts';

/** Purpose of a medium, in the words of the native format. */
export type Role = 'first_frame' | 'last_frame' | 'reference_image' | 'reference_video' | 'reference_audio';

export interface Medium {
  /** A data URL, or an address with a scheme that the format accepts. */
  url: string;
  role: Role;
  /** Name of a local file. */
  name?: string | undefined;
}

type Kind = 'image' | 'video' | 'audio';

const videoNames = /\.(mp4|mov|webm)$/;
const audioNames = /\.(wav|mp3|m4a|ogg)$/;

/** Returns the kind of a medium: by its media type, or by the ending of its address. */
export function kindOf(url: string): Kind {
  const name = url.startsWith('data:') ? '' : url.toLowerCase().replace(/[?#].*$/s, '');
  if (url.startsWith('data:video/') || videoNames.test(name)) return 'video';
  if (url.startsWith('data:audio/') || audioNames.test(name)) return 'audio';
  return 'image';
}

/** Returns the role of a new medium: images become the first and the last frame while there are no references. */
export function roleOf(url: string, media: readonly Medium[], allowed: readonly Role[]): Role {
  const kind = kindOf(url);
  if (kind !== 'image') return `reference_${kind}`;
  const roles = media.map(({ role }) => role);
  if (roles.length === 0) return 'first_frame';
  const isNext = roles.length === 1 && roles[0] === 'first_frame' && allowed.includes('last_frame');
  return isNext ? 'last_frame' : 'reference_image';
}

const urlsOf = (media: readonly Medium[], role: Role) =>
  media.filter((medium) => medium.role === role).map(({ url }) => url);

/** Items of `input.media` in the native format. */
export const nativeMedia = (media: readonly Medium[]) => media.map(({ role, url }) => ({ type: role, url }));

/** Items of `content` in the official format. */
export function officialContent(prompt: unknown, media: readonly Medium[]): JsonObject[] {
  const text = typeof prompt === 'string' && prompt !== '' ? [{ type: 'text', text: prompt }] : [];
  const items = media.map(({ role, url }) => {
    const type = `${kindOfRole(role)}_url`;
    return { type, [type]: { url }, role };
  });
  return [...text, ...items];
}

/** Adds media to a generic request: with the short fields where they suffice, otherwise in the format of the provider. */
export function withGenericMedia(body: JsonObject, media: readonly Medium[], protocol: string): JsonObject {
  const { metadata } = body;
  const withMetadata = (more: JsonObject) => ({
    ...body,
    metadata: { ...(metadata as JsonObject), ...more },
  });
  const [first, last] = [...urlsOf(media, 'first_frame'), ...urlsOf(media, 'last_frame')];
  const images = urlsOf(media, 'reference_image').map((url) => ({ url }));
  const videos = urlsOf(media, 'reference_video');
  const audios = urlsOf(media, 'reference_audio');
  const references = { ...(images.length > 0 && { reference_images: images }) };
  if (media.length === 0) return body;
  if (protocol === 'official') {
    if (first !== undefined) return withMetadata({ content: officialContent(body.prompt, media) });
    const clips = {
      ...(videos.length > 0 && { video_url: videos }),
      ...(audios.length > 0 && { audio_url: audios }),
    };
    return { ...(Object.keys(clips).length > 0 ? withMetadata(clips) : body), ...references };
  }
  const isNative = audios.length > 0 || videos.length > 1 || media[0]?.role === 'last_frame';
  if (protocol === 'native_video' && isNative) return withMetadata({ 'input.media': nativeMedia(media) });
  return {
    ...body,
    ...references,
    ...(first !== undefined && (last === undefined ? { image: first } : { images: [first, last] })),
    ...(videos[0] !== undefined && { video: { url: videos[0] } }),
  };
}

const kindOfRole = (role: Role) => (role.endsWith('_frame') ? 'image' : role.replace('reference_', ''));

const mediaFields =
  /^(?:metadata\.|input\.)*(?:images?|reference_images|input_reference|video|video_url|audio_url|media|content)(?:\.|$)/;

/** Returns the message of an error that names one of the media. */
export const mediaProblemOf = (error: unknown): string | undefined =>
  error instanceof APIError && mediaFields.test(error.param ?? '') ? error.message : undefined;
