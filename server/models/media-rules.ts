import { type Failure, invalid } from '../lib/failure.ts';
import { property } from './video-options.ts';

/** Maximum items of each type in a native media list. */
const maxNative: Readonly<Record<string, number>> = {
  first_frame: 1,
  last_frame: 1,
  reference_image: 10,
  reference_video: 5,
  reference_audio: 5,
  file: 1,
  link: 1,
};
/** Items of official content that occur at most once, by the field that identifies them. */
const singleItems = [
  { name: 'role', value: 'first_frame' },
  { name: 'role', value: 'last_frame' },
  { name: 'type', value: 'draft_task' },
];
const fileTypes = ['image_url', 'video_url', 'audio_url'];
const model3dInputs = ['prompt', 'image', 'images'];
const megabyte = 1024 * 1024;

/** Kinds of media URLs, with the start of the URL and the words of a message. */
const addresses = {
  web: { start: /^https?:\/\//i, words: 'an http or https URL' },
  store: { start: /^oss:\/\//i, words: 'an address of an object store (oss://)' },
  asset: { start: /^asset:\/\//i, words: 'an asset reference (asset://)' },
  image: { start: /^data:image\//i, words: 'a Base64 data URL of an image' },
  audio: { start: /^data:audio\//i, words: 'a Base64 data URL of audio' },
};

export type AddressKind = keyof typeof addresses;

/** Returns the URL if the provider supports its kind. @throws Failure 400 that names the field and the kinds */
export function requireAddress(url: string, field: string, kinds: readonly AddressKind[]): string {
  if (kinds.some((kind) => addresses[kind].start.test(url))) return url;
  const foreign = /^asset:/i.test(url)
    ? '; asset references are for Seedance models and for the media fields of generic requests'
    : '';
  throw invalid(field, `must be ${kinds.map((kind) => addresses[kind].words).join(' or ')}${foreign}.`);
}

/** Checks the size and encoding of a data URL and returns its subtype. Ignores any other URL. @throws Failure 400 */
export function checkDataUrl(
  url: string,
  field: string,
  kind: 'image' | 'audio',
  maxMegabytes: number,
): string | undefined {
  if (!/^data:/i.test(url)) return undefined;
  const pattern = new RegExp(`^data:${kind}/([^;,]+)[^,]{0,200};base64,`, 'i');
  const [head, subtype] = pattern.exec(url.slice(0, 300)) ?? [];
  if (head === undefined) throw invalid(field, `must be a URL or ${addresses[kind].words}.`);
  if ((url.length - head.length) * 0.75 > maxMegabytes * megabyte)
    throw invalid(field, `inline ${kind} must have at most ${maxMegabytes} MB.`);
  return subtype?.toLowerCase();
}

export function conflict(field: string, problem: string): Failure {
  return invalid(field, problem, 'invalid_media_combination');
}

/** Builds the failure for the types of a native media list: too many of one type, or types that exclude each other. */
export function nativeMediaFailure(list: readonly unknown[], field: string): Failure | undefined {
  const types = list.map((item) => textOf(item, 'type'));
  for (const [type, max] of Object.entries(maxNative)) {
    if (types.filter((one) => one === type).length > max)
      return invalid(field, `must have at most ${max} of type ${type}.`);
  }
  if (types.includes('file') && types.includes('link'))
    return conflict(field, 'file and link cannot be combined; give at most 1 of the two.');
  const frame = types.find(isFrame);
  const other = types.findIndex((type) => !isFrame(type));
  const type = types[other];
  if (frame === undefined || type === undefined) return undefined;
  const place = `${field}.${other}.type`;
  return Object.hasOwn(maxNative, type)
    ? conflict(
        place,
        `${type} cannot be combined with ${frame}: first_frame and last_frame go with no other media.`,
      )
    : invalid(place, `must be one of ${Object.keys(maxNative).join(', ')}.`);
}

/** Builds the failure for a reference in official content with a frame. */
export function besideFrame(list: readonly unknown[], field: string, index: string): Failure {
  const frame = list.findIndex((item) => textOf(item, 'role')?.endsWith('_frame'));
  return referenceConflict(`${field}.${index}`, `${field}.${frame}`);
}

export function referenceConflict(field: string, frameField: string): Failure {
  return conflict(field, `a reference cannot be combined with the first or last frame in ${frameField}.`);
}

export const lastFrameAlone = (field: string): Failure =>
  conflict(field, 'a last_frame needs a first_frame.');
export const audioAlone = (field: string): Failure =>
  invalid(field, 'the model takes audio only together with an image or a video.');

/**
 * Builds the failure for official content with more than `max` items of a kind or, without `max`, with an item that
 * requires another one. Undefined if the kind is not certain.
 */
export function officialContentFailure(
  list: readonly unknown[],
  field: string,
  max: number | undefined,
): Failure | undefined {
  if (max === undefined) {
    const roles = list.map((item) => textOf(item, 'role'));
    const last = roles.indexOf('last_frame');
    if (last >= 0 && !roles.includes('first_frame')) return lastFrameAlone(`${field}.${last}`);
    return audioAlone(`${field}.${list.findIndex((item) => textOf(item, 'type') === 'audio_url')}`);
  }
  const kinds = max === 1 ? singleItems : fileTypes.map((value) => ({ name: 'type', value }));
  const [kind, ...others] = kinds.filter(
    ({ name, value }) => list.filter((item) => textOf(item, name) === value).length > max,
  );
  const files = list.filter((item) => fileTypes.includes(textOf(item, 'type') ?? ''));
  if (kind === undefined && files.length > max)
    return invalid(field, `must have at most ${max} images, videos and audios in all.`);
  if (kind === undefined || others.length > 0) return undefined;
  return invalid(field, `must have at most ${max} of ${kind.name} ${kind.value}.`);
}

export function model3dInputFailure(input: object, field: string): Failure | undefined {
  const given = model3dInputs.filter((name) => Object.hasOwn(input, name));
  if (given.length === 0) return invalid(field, `must have one of ${model3dInputs.join(', ')}.`);
  if (given.length === 1) return undefined;
  return conflict(field, `${given.join(' and ')} exclude each other; give one of them.`);
}

function isFrame(type: string | undefined): boolean {
  return type === 'first_frame' || type === 'last_frame';
}

function textOf(item: unknown, name: string): string | undefined {
  const value = property(item, name);
  return typeof value === 'string' ? value : undefined;
}
