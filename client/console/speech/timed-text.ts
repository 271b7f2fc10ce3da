import type { SpokenWord } from '../../../generated/events.ts';
import type { TimedWord } from '../parts/timed-words.tsx';

/** Returns the text in parts of one spoken word each, with the spaces and punctuation that follow the word. */
export function timeWords(text: string, words: readonly SpokenWord[]): readonly TimedWord[] {
  let end = 0;
  const found = words.flatMap((word) => {
    const start = text.indexOf(word.text, end);
    if (start < 0 || word.begin_time === undefined || word.end_time === undefined) return [];
    end = start + word.text.length;
    return [{ start, startSeconds: word.begin_time / 1_000, endSeconds: word.end_time / 1_000 }];
  });
  return found.map(({ start, ...times }, index) => ({
    ...times,
    text: text.slice(index === 0 ? 0 : start, found[index + 1]?.start),
  }));
}
