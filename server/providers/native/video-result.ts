import type { components } from '../../../generated/http.ts';
import { numberField, objectField, textField, urlField } from '../json.ts';
import type { VideoResult } from '../video.ts';
import type { NativeTaskKind } from './tasks.ts';

type GammaUsage = components['schemas']['GammaUsage'];

/** Results of the native video route. */
export const nativeVideo: NativeTaskKind = {
  path: '/api/v1/services/aigc/video-generation/video-synthesis',

  readResult(output, answer) {
    const video_url = urlField(output, 'video_url');
    if (video_url === undefined) return undefined;
    const usage = usageOf(objectField(answer, 'usage'));
    const prompts = textFields(output, ['orig_prompt', 'actual_prompt']);
    const seconds = secondsOf(usage);
    const result: VideoResult = {
      video_url,
      metadata: {
        url: video_url,
        ...textFields(answer, ['request_id']),
        ...(prompts.orig_prompt === undefined ? {} : { orig_prompt: prompts.orig_prompt }),
        ...(usage && { usage, ...factsOf(usage, seconds) }),
      },
      native: { output: { ...prompts, video_url }, ...(usage && { usage }) },
    };
    return { result: { ...result }, ...(seconds === undefined ? {} : { usage: { units: seconds } }) };
  },
};

/** Length of the longest prompt. */
const maxTextLength = 20_000;

const counts = ['video_count', 'fps', 'SR'] as const;
const lengths = ['duration', 'input_video_duration', 'output_video_duration'] as const;

/** Reads usage with the types of the contract. Providers send some numbers as strings. */
function usageOf(reported: unknown): GammaUsage | undefined {
  if (reported === undefined) return undefined;
  const usage: GammaUsage = {};
  for (const name of counts) {
    // Reads `1080P` as 1080.
    const count = Number.parseInt(String(numberField(reported, name) ?? textField(reported, name)), 10);
    if (count >= (name === 'video_count' ? 0 : 1)) usage[name] = count;
  }
  for (const name of lengths) {
    const length = numberField(reported, name);
    if (length !== undefined && length >= 0) usage[name] = length;
  }
  return { ...usage, ...textFields(reported, ['ratio']) };
}

/** Seconds of output video. Undefined if not reported. */
function secondsOf(usage: GammaUsage | undefined): number | undefined {
  if (usage?.output_video_duration !== undefined) return usage.output_video_duration;
  const { duration, input_video_duration: input = 0 } = usage ?? {};
  return duration === undefined ? undefined : Math.max(0, duration - input);
}

function factsOf({ SR, ratio }: GammaUsage, seconds: number | undefined): VideoResult['metadata'] {
  return {
    ...(seconds === undefined ? {} : { duration: seconds, duration_seconds: seconds }),
    ...(SR === undefined ? {} : { resolution: `${SR}P` }),
    ...(ratio === undefined ? {} : { ratio }),
  };
}

/** Collects the fields with a text. */
function textFields<Name extends string>(from: unknown, names: readonly Name[]): { [name in Name]?: string } {
  const texts: { [name in Name]?: string } = {};
  for (const name of names) {
    const text = textField(from, name);
    if (text !== undefined) texts[name] = text.slice(0, maxTextLength);
  }
  return texts;
}
