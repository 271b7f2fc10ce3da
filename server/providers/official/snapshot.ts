import type { components } from '../../../generated/http.ts';
import {
  booleanField,
  countField,
  defined,
  field,
  integerField,
  listField,
  longTextField,
  numberField,
  objectField,
  readFields,
  urlField,
} from '../../lib/json.ts';
import type { VideoResult } from '../video.ts';

type Schemas = components['schemas'];

/** Reads the fields of an upstream task that clients may see, without ids. Providers use several fields for the URL. */
export function readSnapshot(answer: unknown): VideoResult {
  const native = { ...nativeOf(answer) };
  return { ...defined({ video_url: videoUrl(answer) }), native, metadata: metadataOf(answer) };
}

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

function nativeOf(answer: unknown): Partial<Schemas['OfficialTask']> {
  return {
    content: readFields(field(answer, 'content'), { last_frame_url: urlField, file_url: urlField }),
    ...readFields(answer, {
      usage: usageOf,
      seed: integerField,
      // Ignores a length of -1, which means any length.
      duration: countField,
      frames: countField,
      execution_expires_after: countField,
      priority: countField,
      framespersecond: (value, name) => countField(value, name) || undefined,
      resolution: longTextField,
      ratio: longTextField,
      service_tier: longTextField,
      revised_prompt: longTextField,
      safety_identifier: longTextField,
      output_format: longTextField,
      generate_audio: booleanField,
      draft: booleanField,
      tools: toolsOf,
    }),
  };
}

function metadataOf(answer: unknown): Schemas['VideoTaskMetadata'] {
  return readFields(answer, {
    usage: usageOf,
    last_frame_url: (value, name) => urlField(field(value, 'content'), name),
    duration: secondsOf,
    duration_seconds: secondsOf,
    output_format: longTextField,
    resolution: longTextField,
    ratio: longTextField,
    seed: integerField,
    generate_audio: booleanField,
  });
}

function usageOf(answer: unknown): Schemas['OfficialUsage'] | undefined {
  const usage = objectField(answer, 'usage');
  if (usage === undefined) return undefined;
  const searches = countField(usage.tool_usage, 'web_search');
  return {
    ...readFields(usage, { completion_tokens: countField, total_tokens: countField }),
    ...(searches !== undefined && { tool_usage: { web_search: searches } }),
  };
}

function toolsOf(answer: unknown): Schemas['OfficialTool'][] | undefined {
  const tools = listField(answer, 'tools');
  return tools.some((tool) => field(tool, 'type') === 'web_search') ? [{ type: 'web_search' }] : undefined;
}
