import type { components } from '../../../generated/http.ts';
import {
  defined,
  numberBetween,
  numberField,
  objectField,
  pickDefined,
  textField,
  urlField,
} from '../json.ts';
import type { VideoResult } from '../video.ts';
import type { NativeTaskKind } from './tasks.ts';

type GammaUsage = components['schemas']['GammaUsage'];

export const nativeVideo: NativeTaskKind = {
  path: '/api/v1/services/aigc/video-generation/video-synthesis',

  readResult(output, answer) {
    const video_url = urlField(output, 'video_url');
    if (video_url === undefined) return undefined;
    const usage = usageOf(objectField(answer, 'usage'));
    const orig_prompt = textField(output, 'orig_prompt', maxTextLength);
    const actual_prompt = textField(output, 'actual_prompt', maxTextLength);
    const seconds = secondsOf(usage);
    const result: VideoResult = {
      video_url,
      metadata: {
        url: video_url,
        ...defined({ request_id: textField(answer, 'request_id', maxTextLength), orig_prompt }),
        ...(usage && { usage, ...factsOf(usage, seconds) }),
      },
      native: { output: { ...defined({ orig_prompt, actual_prompt }), video_url }, ...(usage && { usage }) },
    };
    return { result: { ...result }, ...(seconds !== undefined && { usage: { units: seconds } }) };
  },
};

const maxTextLength = 20_000;

/** Reads usage with the types of the contract. Providers send some numbers as strings. */
function usageOf(reported: unknown): GammaUsage | undefined {
  if (reported === undefined) return undefined;
  return {
    ...pickDefined(['video_count', 'fps', 'SR'], (name) => {
      // Reads `1080P` as 1080.
      const count = Number.parseInt(String(numberField(reported, name) ?? textField(reported, name)), 10);
      return count >= (name === 'video_count' ? 0 : 1) ? count : undefined;
    }),
    ...pickDefined(['duration', 'input_video_duration', 'output_video_duration'], (name) =>
      numberBetween(reported, name, 0),
    ),
    ...defined({ ratio: textField(reported, 'ratio', maxTextLength) }),
  };
}

/** Seconds of output video. Undefined if not reported. */
function secondsOf(usage: GammaUsage | undefined): number | undefined {
  if (usage?.output_video_duration !== undefined) return usage.output_video_duration;
  const { duration, input_video_duration: input = 0 } = usage ?? {};
  return duration === undefined ? undefined : Math.max(0, duration - input);
}

function factsOf({ SR, ratio }: GammaUsage, seconds: number | undefined): VideoResult['metadata'] {
  const resolution = SR === undefined ? undefined : `${SR}P`;
  return defined({ duration: seconds, duration_seconds: seconds, resolution, ratio });
}
