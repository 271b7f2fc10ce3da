import { sumPauses } from '../sentences.ts';
import type { AudioFormat } from '../speech/commands.ts';

/** Options of a beta request that the engine validates. */
export interface BetaOptions {
  text: string;
  format: AudioFormat;
  streaming: boolean;
  /** Respond with a URL instead of hex. */
  url: boolean;
  subtitles: boolean;
  watermark: boolean;
  /** Repeat the whole audio in the last event. */
  aggregate: boolean;
  /** `voice_modify` is set. */
  modified: boolean;
}

export interface EngineError {
  code: number;
  message?: string;
}

const invalidParameterCode = 2013;
const tooManyInvisibleCode = 1042;
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

/** Returns the engine error of a request whose individual fields are valid, or undefined. */
export function validateBetaOptions(options: BetaOptions): EngineError | undefined {
  const { streaming, format } = options;
  if (invisibleRatio(options.text) > 0.1) return { code: tooManyInvisibleCode };
  if (sumPauses(options.text) > maxPauseSeconds)
    return invalidParameter(`pauses must not add up to more than ${maxPauseSeconds} seconds`);
  if (streaming && format === 'wav')
    return invalidParameter('audio_setting.format wav is not available while streaming');
  if (streaming && options.url) return invalidParameter('output_format url is not available while streaming');
  if (streaming && options.subtitles)
    return invalidParameter('subtitle_enable is not available while streaming');
  if (streaming && options.watermark)
    return invalidParameter('aigc_watermark is not available while streaming');
  if (options.modified && (format === 'pcm' || (streaming && format !== 'mp3'))) {
    return invalidParameter(`voice_modify is not available with audio_setting.format ${format}`);
  }
  return undefined;
}

/** Returns the share of control and formatting characters, except line breaks and tabs. */
export function invisibleRatio(text: string): number {
  const invisible = text.match(/[^\P{C}\n\r\t]/gu)?.length ?? 0;
  return text === '' ? 0 : invisible / Array.from(text).length;
}

function invalidParameter(message: string): EngineError {
  return { code: invalidParameterCode, message: `invalid parameter: ${message}` };
}
