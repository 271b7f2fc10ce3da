import type { Meter } from '../billing.ts';

/** Alpha3: characters since the start of the session. */
export function sessionUsage({ characters }: Meter): object {
  return { characters };
}

/** Legacy: tokens of one response. Nothing spoken costs nothing; anything spoken costs the least there is. */
export function responseUsage({ seconds, textTokens, audioTokens }: Meter): object {
  const output = seconds === 0 ? 0 : audioTokens;
  return {
    total_tokens: textTokens + output,
    input_tokens: textTokens,
    output_tokens: output,
    input_tokens_details: { text_tokens: textTokens },
    output_tokens_details: { text_tokens: 0, audio_tokens: output },
  };
}
