import { totalPause } from '../reading.ts';
import type { AudioFormat } from '../speech/commands.ts';

/** What of a beta request the engine itself may refuse. */
export interface BetaOptions {
  text: string;
  format: AudioFormat;
  streaming: boolean;
  /** Answer with a URL instead of hex. */
  url: boolean;
  subtitles: boolean;
  watermark: boolean;
  /** Repeat the whole audio in the last event. */
  aggregate: boolean;
  /** `voice_modify` is used. */
  modified: boolean;
}

export interface Refusal {
  code: number;
  message?: string;
}

const badParameter = 2013;
const tooManyInvisible = 1042;
const maxPauseSeconds = 120;

/** Messages of `base_resp.status_code`. */
export const statusMessages: Readonly<Record<number, string>> = {
  0: 'success',
  1000: 'unknown error',
  1001: 'timeout',
  1002: 'rate limit reached',
  1004: 'authentication failed',
  1008: 'insufficient balance',
  1013: 'internal service error',
  1027: 'the output contains sensitive content',
  1039: 'token rate limit reached',
  1042: 'more than 10% of the characters are invisible',
  2013: 'invalid parameter',
  2038: 'the account may not do this',
  2049: 'invalid key',
};

/** Why the engine refuses a request whose single fields are all valid; undefined when it does not. */
export function engineRefusal(options: BetaOptions): Refusal | undefined {
  const { streaming, format } = options;
  if (invisibleRatio(options.text) > 0.1) return { code: tooManyInvisible };
  if (totalPause(options.text) > maxPauseSeconds)
    return bad(`pauses must not add up to more than ${maxPauseSeconds} seconds`);
  if (streaming && format === 'wav') return bad('audio_setting.format wav is not available while streaming');
  if (streaming && options.url) return bad('output_format url is not available while streaming');
  if (streaming && options.subtitles) return bad('subtitle_enable is not available while streaming');
  if (streaming && options.watermark) return bad('aigc_watermark is not available while streaming');
  if (options.modified && (format === 'pcm' || (streaming && format !== 'mp3'))) {
    return bad(`voice_modify is not available with audio_setting.format ${format}`);
  }
  return undefined;
}

/** Share of control and formatting characters, line breaks and tabs not counted among them. */
export function invisibleRatio(text: string): number {
  const invisible = text.match(/[^\P{C}\n\r\t]/gu)?.length ?? 0;
  return text === '' ? 0 : invisible / Array.from(text).length;
}

function bad(message: string): Refusal {
  return { code: badParameter, message: `invalid parameter: ${message}` };
}
