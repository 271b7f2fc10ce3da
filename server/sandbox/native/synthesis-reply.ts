import type { Meter } from '../billing.ts';
import type { Word } from '../speech/commands.ts';

/** Usage of the voxa and alpha-audio models, the same over HTTP and on the socket. */
export function synthesisUsage({ characters, textTokens, audioTokens }: Meter, tokens: boolean): object {
  return tokens ? { input_tokens: textTokens, output_tokens: audioTokens } : { characters };
}

/** A word as these models report it: its place in the sentence, its times in milliseconds. */
export function writeWord(word: Word): object {
  return {
    text: word.text,
    begin_index: word.beginIndex,
    end_index: word.endIndex,
    begin_time: word.beginTime,
    end_time: word.endTime,
  };
}
