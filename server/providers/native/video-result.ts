import type { components } from '../../../generated/http.ts';
import {
  defined,
  longTextField,
  numberBetween,
  numberField,
  objectField,
  pick,
  readFields,
  textField,
  urlField,
} from '../../lib/json.ts';
import type { ProviderReport } from '../../tasks/driver.ts';
import { countIn } from '../token-usage.ts';
import { type VideoResult, videoUsage } from '../video.ts';
import { videoReport } from '../video-report.ts';
import { possibleValues } from '../video-values.ts';
import type { NativeTaskKind } from './tasks.ts';

type GammaUsage = components['schemas']['GammaUsage'];

export const nativeVideo: NativeTaskKind = {
  path: '/api/v1/services/aigc/video-generation/video-synthesis',

  readResult(output, answer) {
    const video_url = urlField(output, 'video_url');
    if (video_url === undefined) return undefined;
    const usage = usageOf(objectField(answer, 'usage'));
    const prompts = readFields(output, { orig_prompt: longTextField, actual_prompt: longTextField });
    const seconds = secondsOf(usage);
    const result: VideoResult = {
      video_url,
      metadata: {
        url: video_url,
        ...readFields(answer, { request_id: longTextField }),
        ...pick(prompts, ['orig_prompt']),
        ...(usage && { usage, ...factsOf(usage, seconds) }),
      },
      native: { output: { ...prompts, video_url }, ...(usage && { usage }) },
    };
    const outputTokens = countIn(objectField(answer, 'usage'), 'completion_tokens');
    return { result: { ...result }, ...videoUsage(seconds, outputTokens), ...reportOf(answer) };
  },
};

/** Reads usage with the types of the contract. Providers send some numbers as strings. */
function usageOf(reported: unknown): GammaUsage | undefined {
  if (reported === undefined) return undefined;
  return readFields(reported, {
    video_count: (value, name) => wholeNumber(value, name, 0),
    fps: wholeNumber,
    SR: wholeNumber,
    duration: length,
    input_video_duration: length,
    output_video_duration: length,
    ratio: longTextField,
  });
}

const possible = possibleValues({ id: '', protocols: ['native_video'] });

function reportOf(answer: unknown): { report?: ProviderReport } {
  const usage = objectField(answer, 'usage');
  const { SR: resolution, size, ratio, audio, duration } = usage ?? {};
  return videoReport(possible, { resolution, size, ratio, audio, duration });
}

function wholeNumber(value: unknown, name: string, min = 1): number | undefined {
  // Reads `1080P` as 1080.
  const count = Number.parseInt(String(numberField(value, name) ?? textField(value, name)), 10);
  return count >= min ? count : undefined;
}

function length(value: unknown, name: string): number | undefined {
  return numberBetween(value, name, 0);
}

function secondsOf(usage: GammaUsage | undefined): number | undefined {
  if (usage?.output_video_duration !== undefined) return usage.output_video_duration;
  const { duration, input_video_duration: input = 0 } = usage ?? {};
  return duration === undefined ? undefined : Math.max(0, duration - input);
}

function factsOf({ SR, ratio }: GammaUsage, seconds: number | undefined): VideoResult['metadata'] {
  const resolution = SR === undefined ? undefined : `${SR}P`;
  return defined({ duration: seconds, duration_seconds: seconds, resolution, ratio });
}
