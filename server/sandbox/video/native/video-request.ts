import { randomInt } from 'node:crypto';
import type { JsonObject } from '../../http/json-body.ts';
import { invalidParameter, NativeError } from '../../http/native-error.ts';
import { resolveModel } from '../../models.ts';
import { Parameters } from '../../native/parameters.ts';
import { isDataUrl } from '../media-loader.ts';

const mediaTypes = [
  'first_frame',
  'last_frame',
  'reference_image',
  'reference_video',
  'reference_audio',
  'file',
  'link',
] as const;
export type MediaType = (typeof mediaTypes)[number];

export interface MediaItem {
  type: MediaType;
  url: string;
}

/** A gamma request with default values. */
export interface VideoRequest {
  model: string;
  /** Empty for a request without a prompt. */
  prompt: string;
  media: readonly MediaItem[];
  resolution: (typeof resolutions)[number];
  ratio: (typeof ratios)[number];
  /** Duration in seconds. -1: the model chooses. */
  duration: number;
  audio: boolean;
  seed: number;
  watermark: boolean;
}

const resolutions = ['480P', '720P', '1080P'] as const;
const ratios = ['adaptive', '16:9', '4:3', '1:1', '3:4', '9:16'] as const;
/** Longer prompts are truncated. */
const maxPromptCharacters = 20_000;
export const maxSeconds = 30;
const maxSeed = 2 ** 31 - 1;
const maxCounts: Readonly<Record<MediaType, number>> = {
  first_frame: 1,
  last_frame: 1,
  reference_image: 10,
  reference_video: 5,
  reference_audio: 5,
  file: 1,
  link: 1,
};

/** Reads the body of a video request. Throws a `NativeError` if a field is invalid. */
export function readVideoRequest(body: JsonObject): VideoRequest {
  if (body.model === undefined) throw new NativeError(400, 'BadRequest.EmptyModel', 'model is required');
  const { id: model } = resolveModel(body.model, 'native_video');
  const request = new Parameters(body, '');
  const input = request.object('input');
  if (!input) throw new NativeError(400, 'BadRequest.EmptyInput', 'input is required');
  const prompt = input.string('prompt') ?? '';
  const media = input.objects('media', 100).map(readMediaItem);
  if (prompt === '' && media.length === 0) throw invalidParameter('input.prompt or input.media is required');
  validateCombination(media);
  const parameters = request.object('parameters') ?? new Parameters({}, 'parameters');
  const duration = parameters.integer('duration', { min: -1, max: maxSeconds }, 5);
  if (duration === 0 || duration === 1) throw parameters.invalid('duration', 'must be -1 or 2 to 30');
  parameters.flag('prompt_extend', true);
  return {
    model,
    prompt: Array.from(prompt).slice(0, maxPromptCharacters).join(''),
    media,
    resolution: parameters.choice('resolution', resolutions, '1080P'),
    ratio: parameters.choice('ratio', ratios, 'adaptive'),
    duration,
    audio: parameters.flag('audio', true),
    seed: parameters.integer('seed', { min: 0, max: maxSeed }, randomInt(maxSeed)),
    watermark: parameters.flag('watermark'),
  };
}

function readMediaItem(item: Parameters): MediaItem {
  const type = item.optionalChoice('type', mediaTypes);
  if (type === undefined) throw item.invalid('type', 'is required');
  const url = item.requiredString('url');
  if (type === 'link') {
    if (!/^https?:\/\//i.test(url)) throw item.invalid('url', 'must be an http or https address');
  } else if (/^data:/i.test(url)) {
    const image = type === 'first_frame' || type === 'last_frame' || type === 'reference_image';
    if (!image) throw item.invalid('url', 'must not be a data URL');
    if (!isDataUrl(url, 'image')) throw item.invalid('url', 'must be a Base64 data URL of an image');
  } else if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) {
    throw item.invalid('url', 'must be a URL');
  }
  return { type, url };
}

function validateCombination(media: readonly MediaItem[]): void {
  const count = (type: MediaType) => media.filter((item) => item.type === type).length;
  for (const type of mediaTypes) {
    if (count(type) > maxCounts[type])
      throw invalidParameter(`input.media must not have more than ${maxCounts[type]} of type ${type}`);
  }
  const frames = count('first_frame') + count('last_frame');
  if (frames > 0 && frames < media.length)
    throw invalidParameter('input.media: first_frame and last_frame cannot be combined with other types');
  if (count('file') + count('link') > 1)
    throw invalidParameter('input.media: file and link are mutually exclusive');
}
