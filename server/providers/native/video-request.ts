import type { components } from '../../../generated/http.ts';
import { invalid } from '../../lib/failure.ts';
import { defined } from '../../lib/json.ts';
import { conflict } from '../../models/media-rules.ts';
import { familySeconds, isInRange, secondsWords } from '../../models/video-options.ts';
import { maxVideoTokens } from '../../models/video-tokens.ts';
import type { TaskModel } from '../../tasks/task-model.ts';
import {
  agreedValue,
  type GenericVideoRequest,
  isOpenRatio,
  oneOf,
  pricedResolution,
  ratioFields,
  type TranslatedVideo,
  type VideoFacts,
} from '../video.ts';
import { frameOfSize } from '../video-frame.ts';
import {
  checkMedia,
  type GammaMedia,
  type MediaSource,
  nativeSources,
  shortcutMedia,
} from './video-media.ts';

export const resolutions = ['480P', '720P', '1080P'] as const;
const fixedRatios = ['16:9', '4:3', '1:1', '3:4', '9:16'] as const;
export const ratios = ['adaptive', ...fixedRatios] as const;
const maxSeed = 2_147_483_647;
/** The provider cuts longer prompts. */
const maxPromptLength = 20_000;

/** Translates a generic request to the native video protocol. @throws Failure 400 that names the field */
export function gammaFromGeneric(model: TaskModel, request: GenericVideoRequest): TranslatedVideo {
  const { prompt, size, resolution, metadata } = request;
  const given = nativeMedia(metadata);
  const sources = given.length > 0 ? nativeSources(given, 'metadata.input.media') : shortcutMedia(request);
  checkMedia(sources);
  if (!prompt && sources.length === 0) throw invalid('prompt', 'a prompt or media is required.');

  const { field, duration } = durationOf(request);
  const parameters: GammaParameters = { ...genericParameters(request), ...defined({ duration }) };
  const media = sources.map((source) => source.media);
  return {
    body: {
      input: { ...defined({ prompt }), ...(media.length > 0 && { media }) },
      ...(Object.keys(parameters).length > 0 && { parameters }),
    },
    facts: factsOf(prompt, parameters, size ?? resolution),
    ...pricedParts(model.id, parameters, maxSeconds(parameters, field, sources), sources),
  };
}

/** Translates a native request, which is sent unchanged. @throws Failure 400 that names the field */
export function gammaFromNative({
  model,
  ...body
}: components['schemas']['GammaVideoRequest']): TranslatedVideo {
  const { input, parameters = {} } = body;
  const sources = nativeSources(input.media ?? [], 'input.media');
  checkMedia(sources);
  return {
    body,
    facts: factsOf(input.prompt, parameters),
    ...pricedParts(model, parameters, maxSeconds(parameters, 'parameters.duration', sources), sources),
  };
}

/** Translates the parameters except the duration. @throws Failure 400 for unsupported values and fields that differ */
function genericParameters(request: GenericVideoRequest): components['schemas']['GammaParameters'] {
  const { size, resolution, metadata = {} } = request;
  const native = metadata.parameters ?? {};
  const { seed } = metadata;
  if (seed !== undefined && !(seed >= 0 && seed <= maxSeed))
    throw invalid('metadata.seed', `must be between 0 and ${maxSeed} for this model.`);
  const frame = frameOfSize(size, { resolutions, ratios: fixedRatios });
  const values = {
    resolution: agreedValue({
      size: frame === undefined ? oneOf('size', size?.toUpperCase(), resolutions) : frame.resolution,
      resolution: oneOf('resolution', resolution?.toUpperCase(), resolutions),
      'metadata.parameters.resolution': native.resolution,
    }),
    ratio: agreedValue({
      size: frame?.ratio,
      ...ratioFields(request, ratios),
      'metadata.parameters.ratio': native.ratio,
    }),
    seed: agreedValue({ 'metadata.seed': seed, 'metadata.parameters.seed': native.seed }),
    watermark: agreedValue({
      'metadata.watermark': metadata.watermark,
      'metadata.parameters.watermark': native.watermark,
    }),
    audio: agreedValue({
      'metadata.generate_audio': metadata.generate_audio,
      'metadata.parameters.audio': native.audio,
    }),
  };
  const agreed = Object.entries(values).map(([name, one]) => [name, one?.value]);
  return { ...native, ...defined(Object.fromEntries(agreed) as components['schemas']['GammaParameters']) };
}

/** The native media of a generic request, in either field. */
function nativeMedia(metadata: GenericVideoRequest['metadata'] = {}): readonly GammaMedia[] {
  const dotted = metadata['input.media'] ?? [];
  const nested = metadata.input?.media ?? [];
  if (dotted.length > 0 && nested.length > 0)
    throw conflict(
      'metadata.input.media',
      'is set twice, as input.media and as media in input. Send one of them.',
    );
  return dotted.length > 0 ? dotted : nested;
}

/** The duration and its field: `seconds` overrides `duration`, and both override the native one. */
function durationOf({ seconds, duration, metadata }: GenericVideoRequest) {
  if (seconds !== undefined) return { field: 'seconds', duration: Number(seconds) };
  if (duration !== undefined) return { field: 'duration', duration };
  return { field: 'metadata.parameters.duration', duration: metadata?.parameters?.duration };
}

function factsOf(
  prompt: string | undefined,
  { duration, resolution }: GammaParameters,
  size: string | undefined = resolution,
): VideoFacts & Record<string, unknown> {
  return defined({ seconds: duration?.toString(), size, prompt: prompt ? truncated(prompt) : undefined });
}

/** Cuts between code points, each of at most two UTF-16 units. */
function truncated(prompt: string): string {
  if (prompt.length <= maxPromptLength) return prompt;
  return Array.from(prompt.slice(0, 2 * maxPromptLength))
    .slice(0, maxPromptLength)
    .join('');
}

/** Native parameters including unknown ones. */
type GammaParameters = components['schemas']['GammaParameters'] & Record<string, unknown>;

const framesPerSecond = 30;

/** Returns the parts of a request that its price depends on. `seconds`: maximum length of the video. */
function pricedParts(
  modelId: string,
  { resolution: requested, ratio = 'adaptive', audio = true, duration }: GammaParameters,
  seconds: number,
  sources: readonly MediaSource[],
): Pick<TranslatedVideo, 'expectedUnits' | 'maxOutputTokens' | 'priceFields' | 'openFields'> {
  const { resolution, open } = pricedResolution('gamma', modelId, requested, resolutions);
  const hasVideo = sources.some(({ media }) => media.type === 'reference_video');
  return {
    expectedUnits: seconds,
    maxOutputTokens: maxVideoTokens(resolution, hasVideo ? longestSeconds : seconds, framesPerSecond),
    priceFields: { resolution, ratio, duration: seconds, audio, reference_video: hasVideo },
    openFields: {
      ...(open && { resolution: open }),
      ...(isOpenRatio(ratio) && { ratio: fixedRatios }),
      ...(duration === -1 && { duration: [familySeconds.gamma[0], seconds] }),
    },
  };
}

const standardSeconds = 5;
/** The maximum applies to input video and output together. */
const [, longestSeconds] = familySeconds.gamma;
/** Minimum seconds of a reference video. */
const minReferenceSeconds = 1;

/**
 * Maximum seconds of output: the duration, the provider's default, or for -1 the rest of the limit after the input.
 * Throws Failure 400 when the duration in `field` is out of range, or exceeds the limit together with the input.
 */
function maxSeconds(
  { duration = standardSeconds }: GammaParameters,
  field: string,
  sources: readonly MediaSource[],
): number {
  if (duration !== -1 && !(Number.isInteger(duration) && isInRange(duration, familySeconds.gamma)))
    throw invalid(field, secondsWords(familySeconds.gamma));
  const clips = sources.filter(({ media }) => media.type === 'reference_video').length;
  const available = longestSeconds - clips * minReferenceSeconds;
  if (duration > available)
    throw invalid(
      field,
      `must be at most ${available} here: input video and output last at most ${longestSeconds} seconds together.`,
    );
  return duration === -1 ? available : duration;
}
