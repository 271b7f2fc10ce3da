import type { JsonObject } from '../../../openapi/tools/document.ts';

/** A sentence is whole when another text follows it. */
const whole = /^[\s\S]*?(?:[.!?…]+(?=\s+\S)|[。！？]+(?=\s*\S))/;

/** Cuts the first sentence off a text; with `all`, what is left is a sentence too. Empty when there is none. */
export function takeSentence(text: string, all: boolean): { sentence: string; rest: string } {
  const sentence = whole.exec(text)?.[0] ?? (all ? text : '');
  return { sentence, rest: text.slice(sentence.length) };
}

/** The words of a sentence with their places; each takes 300 milliseconds. */
export function wordsOf(sentence: string): JsonObject[] {
  return [...sentence.matchAll(/[\p{L}\p{N}'’-]+/gu)].map(({ 0: text, index }, at) => ({
    text,
    begin_index: index,
    end_index: index + text.length,
    begin_time: at * 300,
    end_time: (at + 1) * 300,
  }));
}
