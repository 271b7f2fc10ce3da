import type { components } from '../../../generated/http.ts';
import { invalid } from '../../failure.ts';
import { conflict } from '../../models/media-rules.ts';
import type { TaskModel } from '../../tasks/task-model.ts';
import { type GenericVideoRequest, lengthAsked, type TranslatedVideo } from '../video-request.ts';
import type { VideoFacts } from '../video-result.ts';
import { checkMedia, type GammaMedia, nativeSources } from './video-media.ts';
import { type GammaParameters, maxSeconds, resolutionOf } from './video-parameters.ts';
import { shortcutMedia } from './video-shortcuts.ts';

/** The provider cuts longer prompts, so no more of one is remembered. */
const maxPromptLength = 20_000;

/**
 * A generic request in the words of the native video protocol. What stands at the top wins over the same in
 * `metadata.parameters`.
 *
 * @throws Failure 400 that names the field; `invalid_media_combination` for fields that exclude each other
 */
export function gammaFromGeneric(_model: TaskModel, request: GenericVideoRequest): TranslatedVideo {
  const { prompt, size, metadata } = request;
  const given = nativeMedia(metadata);
  const sources = given.length > 0 ? nativeSources(given, 'metadata.input.media') : shortcutMedia(request);
  checkMedia(sources);
  if (!prompt && sources.length === 0) throw invalid('prompt', 'a prompt or media is required.');

  const { field, duration } = durationOf(request);
  const parameters: GammaParameters = {
    ...metadata?.parameters,
    ...(size === undefined ? {} : { resolution: resolutionOf(size) }),
    ...(duration === undefined ? {} : { duration }),
  };
  const media = sources.map((source) => source.media);
  return {
    body: {
      input: { ...(prompt === undefined ? {} : { prompt }), ...(media.length === 0 ? {} : { media }) },
      ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
    },
    facts: factsOf(prompt, parameters, size),
    expectedUnits: maxSeconds(parameters, field, sources),
  };
}

/**
 * A native request, which goes upstream as it came.
 *
 * @throws Failure 400 that names the field
 */
export function gammaFromNative({
  model: _model,
  ...body
}: components['schemas']['GammaVideoRequest']): TranslatedVideo {
  const { input, parameters = {} } = body;
  const sources = nativeSources(input.media ?? [], 'input.media');
  checkMedia(sources);
  return {
    body,
    facts: factsOf(input.prompt, parameters),
    expectedUnits: maxSeconds(parameters, 'parameters.duration', sources),
  };
}

/** The native media of a generic request, under either of their names. */
function nativeMedia(metadata: GenericVideoRequest['metadata'] = {}): readonly GammaMedia[] {
  const dotted = metadata['input.media'] ?? [];
  const nested = metadata.input?.media ?? [];
  if (dotted.length > 0 && nested.length > 0)
    throw conflict('metadata.input.media', 'is given twice, as input.media and as media in input; give one.');
  return dotted.length > 0 ? dotted : nested;
}

/** The duration that counts, and where it stands. */
function durationOf(request: GenericVideoRequest): { field: string; duration: number | undefined } {
  const asked = lengthAsked(request);
  if (asked !== undefined) return { field: asked.field, duration: asked.length };
  return { field: 'metadata.parameters.duration', duration: request.metadata?.parameters?.duration };
}

function factsOf(
  prompt: string | undefined,
  { duration, resolution }: GammaParameters,
  size: string | undefined = resolution,
): VideoFacts & Record<string, unknown> {
  return {
    ...(duration === undefined ? {} : { seconds: String(duration) }),
    ...(size === undefined ? {} : { size }),
    ...(prompt ? { prompt: cut(prompt) } : {}),
  };
}

/** Cuts between characters; the longest one takes two units. */
function cut(prompt: string): string {
  if (prompt.length <= maxPromptLength) return prompt;
  return Array.from(prompt.slice(0, 2 * maxPromptLength))
    .slice(0, maxPromptLength)
    .join('');
}
