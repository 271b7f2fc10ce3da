import type { components } from '../../../generated/http.ts';
import {
  countField,
  field,
  flagField,
  numberField,
  objectField,
  picked,
  textField,
  webAddress,
  wholeField,
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

/** Characters of a text that are kept: as many as the longest prompt has. */
const maxTextLength = 20_000;

/**
 * What an upstream reports of a task, as far as clients may see it: no ids, and nothing of a type that the contract
 * does not have. The address of the video stands in different places on different channels.
 */
export function readSnapshot(answer: unknown): VideoResult {
  const url = videoUrl(answer);
  return {
    ...(url !== undefined && { video_url: url }),
    native: nativeOf(answer),
    metadata: metadataOf(answer),
  };
}

/** Seconds of the video; undefined while nobody knows. */
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
    webAddress(field(answer, 'content'), 'video_url') ??
    webAddress(outputs, '0') ??
    webAddress(field(outputs, '0'), 'url') ??
    webAddress(answer, 'video_url')
  );
}

function nativeOf(answer: unknown): Readonly<Record<string, unknown>> {
  const usage = usageOf(answer);
  const tools = toolsOf(answer);
  const content = field(answer, 'content');
  return {
    content: picked(['last_frame_url', 'file_url'], (name) => webAddress(content, name)),
    ...(usage !== undefined && { usage }),
    // A length of -1 asks for any length.
    ...picked(numbers, (name) => (name === 'seed' ? wholeField(answer, name) : countField(answer, name))),
    ...picked(['framespersecond'], (name) => countField(answer, name) || undefined),
    ...picked(texts, (name) => textField(answer, name)?.slice(0, maxTextLength)),
    ...picked(flags, (name) => flagField(answer, name)),
    ...(tools !== undefined && { tools }),
  };
}

/** What the generic task object shows of the video. */
function metadataOf(answer: unknown): Schemas['VideoTaskMetadata'] {
  const seconds = secondsOf(answer);
  const usage = usageOf(answer);
  const content = field(answer, 'content');
  return {
    ...(usage !== undefined && { usage }),
    ...picked(['last_frame_url'], (name) => webAddress(content, name)),
    ...(seconds !== undefined && { duration: seconds, duration_seconds: seconds }),
    ...picked(['output_format', 'resolution', 'ratio'], (name) =>
      textField(answer, name)?.slice(0, maxTextLength),
    ),
    ...picked(['seed'], (name) => wholeField(answer, name)),
    ...picked(['generate_audio'], (name) => flagField(answer, name)),
  };
}

function usageOf(answer: unknown): Schemas['OfficialUsage'] | undefined {
  const usage = objectField(answer, 'usage');
  if (usage === undefined) return undefined;
  const searches = countField(field(usage, 'tool_usage'), 'web_search');
  return {
    ...picked(['completion_tokens', 'total_tokens'], (name) => countField(usage, name)),
    ...(searches !== undefined && { tool_usage: { web_search: searches } }),
  };
}

function toolsOf(answer: unknown): Schemas['OfficialTool'][] | undefined {
  const tools = field(answer, 'tools');
  if (!Array.isArray(tools)) return undefined;
  return tools.some((tool) => field(tool, 'type') === 'web_search') ? [{ type: 'web_search' }] : undefined;
}
