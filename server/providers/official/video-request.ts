import type { components } from '../../../generated/http.ts';
import { defined } from '../../lib/json.ts';
import { maxVideoTokens } from '../../models/video-tokens.ts';
import type { TaskModel } from '../../tasks/task-model.ts';
import { type GenericVideoRequest, isOpenRatio, pricedResolution, type TranslatedVideo } from '../video.ts';
import { type ContentSource, checkContent, contentSources } from './check-content.ts';
import {
  checkOptions,
  type FieldNames,
  frameRate,
  isLengthOpen,
  maxSeconds,
  type OfficialOptions,
} from './check-options.ts';
import { fixedRatios, genericOptions, shortcutContent } from './generic-request.ts';
import { boundsOf } from './model-bounds.ts';

/** Default seconds until an unfinished task expires. */
const defaultLifetime = 172_800;
const maxStoredPromptLength = 20_000;

/** Translates a generic request. `metadata.content` replaces the prompt and all media fields. @throws Failure 400 */
export function seedanceFromGeneric(model: TaskModel, request: GenericVideoRequest): TranslatedVideo {
  const given = request.metadata?.content ?? [];
  const sources = given.length > 0 ? contentSources(given, 'metadata.content') : shortcutContent(request);
  const { options, nameOf } = genericOptions(request);
  const translated = translate(model, sources, options, nameOf);
  const size = request.size ?? request.resolution;
  return { ...translated, facts: { ...translated.facts, ...(size && { size }) } };
}

/** Translates an official request. The gateway sends callbacks itself, with the public task id. @throws Failure 400 */
export function seedanceFromOfficial(
  model: TaskModel,
  { model: _model, content, ...options }: components['schemas']['OfficialTaskRequest'],
): TranslatedVideo {
  return translate(model, contentSources(content, 'content'), options, (field) => field);
}

function translate(
  model: TaskModel,
  sources: readonly ContentSource[],
  { callback_url: callbackUrl, ...options }: OfficialOptions,
  nameOf: FieldNames,
): TranslatedVideo {
  const bounds = boundsOf(model.id);
  checkContent(sources, bounds);
  checkOptions(options, sources, bounds, nameOf);
  return {
    body: { content: sources.map(({ item }) => item), ...options },
    fields: sources.map(({ field }) => field),
    facts: factsOf(sources, options),
    ...pricedParts(model, options, maxSeconds(options, bounds, sources), sources),
    lifetimeMs: (options.execution_expires_after ?? defaultLifetime) * 1000,
    ...defined({ callbackUrl }),
  };
}

/** Maximum seconds of a reference video, whose frames are billed, too. */
const maxReferenceSeconds = 15;

/** Returns the parts of a request that its price depends on. `seconds`: maximum length of the video. */
function pricedParts(
  model: TaskModel,
  options: OfficialOptions,
  seconds: number,
  sources: readonly ContentSource[],
): Pick<TranslatedVideo, 'expectedUnits' | 'maxOutputTokens' | 'priceFields' | 'openFields'> {
  const { ratio, generate_audio: audio = true, service_tier } = options;
  const bounds = boundsOf(model.id);
  const { resolution, open } = pricedResolution('seedance', model.id, options.resolution, bounds.resolutions);
  const videos = sources.filter(({ item }) => item.type === 'video_url').length;
  return {
    expectedUnits: seconds,
    maxOutputTokens: maxVideoTokens(resolution, seconds + videos * maxReferenceSeconds, frameRate),
    priceFields: {
      resolution,
      ...defined({ ratio }),
      duration: seconds,
      audio,
      reference_video: videos > 0,
      service_tier: service_tier ?? 'default',
    },
    openFields: {
      ...(open && { resolution: open }),
      ...(isOpenRatio(ratio) && { ratio: fixedRatios }),
      ...(isLengthOpen(options, bounds, sources) && { duration: [bounds.seconds[0], seconds] }),
    },
  };
}

/** Collects the properties that renderers and the task list need. */
function factsOf(sources: readonly ContentSource[], options: OfficialOptions): TranslatedVideo['facts'] {
  const { duration, resolution, service_tier, safety_identifier } = options;
  const prompt = sources
    .flatMap(({ item }) => (item.type === 'text' ? [item.text] : []))
    .join('\n')
    .slice(0, maxStoredPromptLength);
  const draft = sources.map(({ item }) => item).find((item) => item.type === 'draft_task');
  return defined({
    seconds: duration?.toString(),
    size: resolution,
    prompt: prompt || undefined,
    draft_task_id: draft?.draft_task.id,
    service_tier,
    safety_identifier,
  });
}
