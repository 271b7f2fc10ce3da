import { type Failure, invalid } from '../lib/failure.ts';

/** So many items of each type a native media list may have. */
const maxNative: Readonly<Record<string, number>> = {
  first_frame: 1,
  last_frame: 1,
  reference_image: 10,
  reference_video: 5,
  reference_audio: 5,
  file: 1,
  link: 1,
};
/** Kinds of official content whose number is limited, some to a single one. */
const officialKinds = [
  { name: 'role', value: 'first_frame', single: true },
  { name: 'role', value: 'last_frame', single: true },
  { name: 'type', value: 'draft_task', single: true },
  { name: 'type', value: 'image_url', single: false },
  { name: 'type', value: 'video_url', single: false },
  { name: 'type', value: 'audio_url', single: false },
];
const model3dInputs = ['prompt', 'image', 'images'];

/** What an address of a medium may begin with, in words. */
const addresses = {
  web: { begins: /^https?:\/\//i, words: 'an http or https URL' },
  store: { begins: /^oss:\/\//i, words: 'an address of an object store (oss://)' },
  asset: { begins: /^asset:\/\//i, words: 'an asset reference (asset://)' },
  image: { begins: /^data:image\//i, words: 'a Base64 data URL of an image' },
  audio: { begins: /^data:audio\//i, words: 'a Base64 data URL of audio' },
};

/** A kind of address. */
export type AddressKind = keyof typeof addresses;

/**
 * The generic routes take for a field whatever some provider takes; this holds it to what one does.
 *
 * @throws Failure 400 that names the field and the kinds
 */
export function requireAddress(url: string, field: string, kinds: readonly AddressKind[]): void {
  if (kinds.some((kind) => addresses[kind].begins.test(url))) return;
  const foreign = /^asset:/i.test(url)
    ? '; asset references are for Seedance models and for the media fields of generic requests'
    : '';
  throw invalid(field, `must be ${kinds.map((kind) => addresses[kind].words).join(' or ')}${foreign}.`);
}

/** 400 for media that exclude each other. */
export function conflict(field: string, problem: string): Failure {
  return invalid(field, problem, 'invalid_media_combination');
}

/** What is wrong with the types of a native media list: too many of one, or some that exclude each other. */
export function nativeMediaFailure(list: readonly unknown[], field: string): Failure | undefined {
  const types = list.map((item) => property(item, 'type'));
  for (const [type, max] of Object.entries(maxNative)) {
    if (count(types, type) > max) return invalid(field, `must have at most ${max} of type ${type}.`);
  }
  if (types.includes('file') && types.includes('link'))
    return conflict(field, 'file and link cannot be combined; give at most 1 of the two.');
  const frame = types.find(isFrame);
  const other = types.findIndex((type) => !isFrame(type));
  const type = types[other];
  if (frame === undefined || type === undefined) return undefined;
  return Object.hasOwn(maxNative, type)
    ? conflict(
        `${field}.${other}.type`,
        `${type} cannot be combined with ${frame}: first_frame and last_frame go with no other media.`,
      )
    : invalid(`${field}.${other}.type`, `must be one of ${Object.keys(maxNative).join(', ')}.`);
}

/** What is wrong with official content that lacks what another item of it needs. */
function lonelyFailure(list: readonly unknown[], field: string): Failure {
  const roles = list.map((item) => property(item, 'role'));
  const last = roles.indexOf('last_frame');
  if (last >= 0 && !roles.includes('first_frame'))
    return conflict(`${field}.${last}`, 'a last_frame needs a first_frame.');
  const audio = list.findIndex((item) => property(item, 'type') === 'audio_url');
  return invalid(`${field}.${audio}`, 'the model takes audio only together with an image or a video.');
}

/** That an item of official content, of which one is a frame, cannot stand beside it. */
export function besideFrame(list: readonly unknown[], field: string, index: string): Failure {
  const frame = list.findIndex((item) => property(item, 'role')?.endsWith('_frame'));
  return conflict(
    `${field}.${index}`,
    `a reference cannot be combined with the first or last frame in ${field}.${frame}.`,
  );
}

const fileTypes = ['image_url', 'video_url', 'audio_url'];

/**
 * Which kind of official content there are more than `max` of, or without `max` which one is missing; undefined
 * where that is not certain.
 */
export function officialContentFailure(
  list: readonly unknown[],
  field: string,
  max: number | undefined,
): Failure | undefined {
  if (max === undefined) return lonelyFailure(list, field);
  const over = officialKinds
    .filter(({ single }) => single === (max === 1))
    .filter(
      ({ name, value }) =>
        count(
          list.map((item) => property(item, name)),
          value,
        ) > max,
    );
  const [kind] = over;
  const files = list.filter((item) => fileTypes.includes(property(item, 'type') ?? ''));
  if (kind === undefined && files.length > max)
    return invalid(field, `must have at most ${max} images, videos and audios in all.`);
  if (kind === undefined || over.length > 1) return undefined;
  return invalid(field, `must have at most ${max} of ${kind.name} ${kind.value}.`);
}

/** What is wrong with the kinds of input of a 3D request: none, or more than one. */
export function model3dInputFailure(input: object, field: string): Failure | undefined {
  const given = model3dInputs.filter((name) => Object.hasOwn(input, name));
  if (given.length === 0) return invalid(field, `must have one of ${model3dInputs.join(', ')}.`);
  if (given.length === 1) return undefined;
  return conflict(field, `${given.join(' and ')} exclude each other; give one of them.`);
}

function isFrame(type: string | undefined): boolean {
  return type === 'first_frame' || type === 'last_frame';
}

function count(values: readonly unknown[], wanted: string): number {
  return values.filter((value) => value === wanted).length;
}

/** A property of something from outside, where it is a text. */
function property(item: unknown, name: string): string | undefined {
  if (typeof item !== 'object' || item === null) return undefined;
  const value: unknown = Reflect.get(item, name);
  return typeof value === 'string' ? value : undefined;
}

/** Shortest and longest video in seconds; -1 is taken besides. */
export type SecondsRange = readonly [shortest: number, longest: number];

/** How long the videos of each family may be. */
export const familySeconds = {
  gamma: [2, 30],
  eta: [1, 15],
  seedance20: [4, 15],
  seedance25: [4, 30],
} as const satisfies Readonly<Record<string, SecondsRange>>;

const families: readonly { models: RegExp; seconds: SecondsRange }[] = [
  { models: /^gamma/, seconds: familySeconds.gamma },
  { models: /^eta-/, seconds: familySeconds.eta },
  { models: /^(epsilon|zeta)-delta-2-0-/, seconds: familySeconds.seedance20 },
  { models: /^(epsilon|zeta)-delta-2-5-/, seconds: familySeconds.seedance25 },
];

/** How long a video of a model may be; undefined where its id does not tell. */
export function videoSeconds(modelId: string): SecondsRange | undefined {
  return families.find(({ models }) => models.test(modelId))?.seconds;
}

/** What is asked of a length, the same whichever check finds it out of range. */
export function secondsWords([shortest, longest]: SecondsRange): string {
  return `must be -1 or ${shortest} to ${longest}.`;
}

/** The same for eta, where -1 stands for the length of the video that is edited. */
export function etaSecondsWords(editing: boolean): string {
  const [shortest, longest] = familySeconds.eta;
  return editing
    ? secondsWords(familySeconds.eta)
    : `must be ${shortest} to ${longest}: -1 is for an edit, which needs video.`;
}
