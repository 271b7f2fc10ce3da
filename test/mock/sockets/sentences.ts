import type { JsonObject } from '../../../openapi/tools/document.ts';

/** A sentence is complete when text follows it. */
const completeSentence = /^[\s\S]*?(?:[.!?…]+(?=\s+\S)|[。！？]+(?=\s*\S))/;

/** Splits off the first complete sentence. With `all`, the rest of the text counts as a sentence. Empty if there is none. */
export function splitSentence(text: string, all: boolean): { sentence: string; rest: string } {
  const sentence = completeSentence.exec(text)?.[0] ?? (all ? text : '');
  return { sentence, rest: text.slice(sentence.length) };
}

/** Returns the words of a sentence with their positions, and with times that divide `durationMs` equally. */
export function wordsOf(sentence: string, durationMs: number): JsonObject[] {
  const words = [...sentence.matchAll(/[\p{L}\p{N}'’-]+/gu)];
  const timeOf = (at: number) => Math.round((at * durationMs) / words.length);
  return words.map(({ 0: text, index }, at) => ({
    text,
    begin_index: index,
    end_index: index + text.length,
    begin_time: timeOf(at),
    end_time: timeOf(at + 1),
  }));
}
