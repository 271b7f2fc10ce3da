import { splitSentences } from '../sentences.ts';
import { blankTriggers } from '../triggers.ts';
import type { MessageRequest } from './message-request.ts';

/** Sentences of the material that are looked at, the last ones. */
const maxSentences = 2_000;
/** Sentences of an answer. */
const longest = 2;

/**
 * Answers with the prompt's own words: what tools have said, else the sentences of the material that share most words
 * with the question, else the question itself. Nothing is understood.
 */
export function extractAnswer({ question, toolResults, material, files }: MessageRequest): string {
  const asked = tidy(question);
  const found = toolResults.length > 0 ? toolResults.map(tidy) : nearest(asked, material);
  const answer =
    found.length > 0 ? found.join(' ') : `${asked.endsWith('?') ? 'You ask' : 'You say'}: ${asked}`;
  return files === 0 ? answer : `${answer} (${files} ${files === 1 ? 'file' : 'files'} not looked at.)`;
}

const tidy = (text: string) => blankTriggers(text).replace(/\s+/g, ' ').trim();

/** The sentences that share words with the question, in their order. */
function nearest(question: string, material: readonly string[]): string[] {
  const asked = new Set(wordsOf(question));
  const sentences = material.flatMap((text) => splitSentences(tidy(text))).slice(-maxSentences);
  return sentences
    .map((sentence, index) => ({ sentence: sentence.trim(), index, score: likeness(sentence, asked) }))
    .filter(({ score }) => score > 0)
    .toSorted((left, right) => right.score - left.score)
    .slice(0, longest)
    .toSorted((left, right) => left.index - right.index)
    .map(({ sentence }) => sentence);
}

function likeness(sentence: string, asked: ReadonlySet<string>): number {
  const words = wordsOf(sentence);
  const shared = new Set(words.filter((word) => asked.has(word))).size;
  return shared / Math.sqrt(words.length || 1);
}

/** Words that say what a text is about, mostly: four letters and more, numbers, and characters that are words. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/\p{Script=Han}|\p{N}+|[\p{L}\p{M}]{4,}/gu) ?? [];
}
