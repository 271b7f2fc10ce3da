import { splitSentences } from '../sentences.ts';
import { blankTriggers } from '../triggers.ts';
import type { MessageRequest } from './message-request.ts';

/** Maximum number of sentences of the prompt that are compared, the last ones. */
const maxSentences = 2_000;
/** Maximum number of sentences in an answer. */
const maxAnswerSentences = 2;

/**
 * Answers with text of the prompt: the tool results, otherwise the sentences that have the most words in common with
 * the question, otherwise the question itself.
 */
export function extractAnswer({ question, toolResults, material, files }: MessageRequest): string {
  const normalizedQuestion = normalize(question);
  const found =
    toolResults.length > 0 ? toolResults.map(normalize) : findSimilar(normalizedQuestion, material);
  const answer =
    found.length > 0
      ? found.join(' ')
      : `${normalizedQuestion.endsWith('?') ? 'You ask' : 'You say'}: ${normalizedQuestion}`;
  return files === 0 ? answer : `${answer} (${files} ${files === 1 ? 'file' : 'files'} not looked at.)`;
}

const normalize = (text: string) => blankTriggers(text).replace(/\s+/g, ' ').trim();

/** Returns the sentences with the most words in common with the question, in their original order. */
function findSimilar(question: string, material: readonly string[]): string[] {
  const questionWords = new Set(contentWords(question));
  const sentences = material.flatMap((text) => splitSentences(normalize(text))).slice(-maxSentences);
  return sentences
    .map((sentence, index) => ({
      sentence: sentence.trim(),
      index,
      score: similarity(sentence, questionWords),
    }))
    .filter(({ score }) => score > 0)
    .toSorted((left, right) => right.score - left.score)
    .slice(0, maxAnswerSentences)
    .toSorted((left, right) => left.index - right.index)
    .map(({ sentence }) => sentence);
}

function similarity(sentence: string, questionWords: ReadonlySet<string>): number {
  const words = contentWords(sentence);
  const shared = new Set(words.filter((word) => questionWords.has(word))).size;
  return shared / Math.sqrt(words.length || 1);
}

/** Returns the words that likely carry meaning: words of at least four letters, numbers, and Han characters. */
export function contentWords(text: string): string[] {
  return text.toLowerCase().match(/\p{Script=Han}|\p{N}+|[\p{L}\p{M}]{4,}/gu) ?? [];
}
