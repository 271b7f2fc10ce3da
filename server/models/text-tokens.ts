import { estimateTextTokens, type Usage } from './usage.ts';

/** A text, several, one as token numbers, or several of those. */
export type EmbeddingInput = string | readonly string[] | readonly number[] | readonly (readonly number[])[];

/** What a call is held for, and what it probably uses, for a provider that reports nothing. */
export interface TokenEstimate {
  /** Most input and output tokens. */
  most: number;
  likely: Usage;
}

/** Tokens that a tokenizer adds to a text, to mark where it begins and ends. */
const marks = 8;

/** The texts of an input, each whole or as its token numbers. */
export function embeddingTexts(input: EmbeddingInput): readonly (string | readonly number[])[] {
  if (typeof input === 'string') return [input];
  return typeof input[0] === 'number' ? [input as readonly number[]] : (input as readonly string[]);
}

/** No tokenizer makes more of a text than one token for each of its bytes. */
export function embeddingTokens(input: EmbeddingInput): TokenEstimate {
  let most = 0;
  let inputTokens = 0;
  for (const text of embeddingTexts(input)) {
    most += marks + (typeof text === 'string' ? Buffer.byteLength(text) : text.length);
    inputTokens += typeof text === 'string' ? estimateTextTokens(text) : text.length;
  }
  return { most, likely: { units: inputTokens, inputTokens, outputTokens: 0 } };
}
