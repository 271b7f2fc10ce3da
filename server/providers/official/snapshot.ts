import type { components } from '../../../generated/http.ts';
import {
  booleanField,
  countField,
  defined,
  field,
  integerField,
  listField,
  numberField,
  objectField,
  pickDefined,
  textField,
  urlField,
} from '../json.ts';
import type { VideoResult } from '../video.ts';

type Schemas = components['schemas'];

const numbers = [
  'seed',
  'duration',
  'frames',
  'execution_expires_after',
  'priority',
] as const satisfies readonly (keyof Schemas['OfficialTask'])[];
const texts = [
  'resolution',
  'ratio',
  'service_tier',
  'revised_prompt',
  'safety_identifier',
  'output_format',
] as const satisfies readonly (keyof Schemas['OfficialTask'])[];
const flags = ['generate_audio', 'draft'] as const satisfies readonly (keyof Schemas['OfficialTask'])[];

const maxTextLength = 20_000;

/** Reads the fields of an upstream task that clients may see, without ids. Providers use several fields for the URL. */
export function readSnapshot(answer: unknown): VideoResult {
  return {
    ...defined({ video_url: videoUrl(answer) }),
    native: nativeOf(answer),
    metadata: metadataOf(answer),
  };
}

/** Seconds of the video. Undefined while unknown. */
export function secondsOf(answer: unknown): number | undefined {
  const duration = numberField(answer, 'duration') ?? 0;
  if (duration > 0) return duration;
  const frames = numberField(answer, 'frames') ?? 0;
  const rate = numberField(answer, 'framespersecond') ?? 24;
  return frames > 0 && rate > 0 ? frames / rate : undefined;
}

function videoUrl(answer: unknown): string | undefined {
  const outputs = field(answer, 'outputs');
  return (
    urlField(field(answer, 'content'), 'video_url') ??
    urlField(outputs, '0') ??
    urlField(field(outputs, '0'), 'url') ??
    urlField(answer, 'video_url')
  );
}

function nativeOf(answer: unknown): Readonly<Record<string, unknown>> {
  const content = field(answer, 'content');
  return {
    content: pickDefined(['last_frame_url', 'file_url'], (name) => urlField(content, name)),
    ...defined({ usage: usageOf(answer) }),
    // Ignores a length of -1, which means any length.
    ...pickDefined(numbers, (name) =>
      name === 'seed' ? integerField(answer, name) : countField(answer, name),
    ),
    ...defined({ framespersecond: countField(answer, 'framespersecond') || undefined }),
    ...pickDefined(texts, (name) => textField(answer, name, maxTextLength)),
    ...pickDefined(flags, (name) => booleanField(answer, name)),
    ...defined({ tools: toolsOf(answer) }),
  };
}

function metadataOf(answer: unknown): Schemas['VideoTaskMetadata'] {
  const seconds = secondsOf(answer);
  const content = field(answer, 'content');
  return {
    ...defined({
      usage: usageOf(answer),
      last_frame_url: urlField(content, 'last_frame_url'),
      duration: seconds,
      duration_seconds: seconds,
    }),
    ...pickDefined(['output_format', 'resolution', 'ratio'], (name) =>
      textField(answer, name, maxTextLength),
    ),
    ...defined({
      seed: integerField(answer, 'seed'),
      generate_audio: booleanField(answer, 'generate_audio'),
    }),
  };
}

function usageOf(answer: unknown): Schemas['OfficialUsage'] | undefined {
  const usage = objectField(answer, 'usage');
  if (usage === undefined) return undefined;
  const searches = countField(field(usage, 'tool_usage'), 'web_search');
  return {
    ...pickDefined(['completion_tokens', 'total_tokens'], (name) => countField(usage, name)),
    ...(searches !== undefined && { tool_usage: { web_search: searches } }),
  };
}

function toolsOf(answer: unknown): Schemas['OfficialTool'][] | undefined {
  const tools = listField(answer, 'tools');
  return tools.some((tool) => field(tool, 'type') === 'web_search') ? [{ type: 'web_search' }] : undefined;
}
