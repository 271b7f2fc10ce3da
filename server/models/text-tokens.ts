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

/** Tokens of one picture, of a document behind an address, and of what a provider's own tools read. */
const [pictureTokens, documentTokens, toolTokens] = [5_000, 100_000, 100_000];
/** Tools that a provider runs by itself, and that bring in more to read. */
const readingTools = /^(web_|code_execution|mcp_)/;
/** What a provider says to a model about its tools. */
const toolPreamble = 1_000;
/** Of a picture, mostly. */
const likelyPictureTokens = 1_500;

/** A conversation, as far as its tokens are concerned. */
export interface Prompt {
  messages: readonly unknown[];
  system?: unknown;
  tools?: readonly { type?: string | null }[];
}

/**
 * Tokens that continuing a conversation takes. A file that is sent along is held with a token for each character of its
 * Base64, but a picture with as many as the largest ones take.
 */
export function messageTokens({ messages, system, tools = [] }: Prompt, maxTokens = 0): TokenEstimate {
  const size = { bytes: 0, fileTokens: 0, pictures: 0 };
  for (const part of [messages, system, tools]) measure(part, size);
  const reads = tools.some(({ type }) => readingTools.test(type ?? ''));
  const most =
    size.bytes +
    size.fileTokens +
    size.pictures * pictureTokens +
    (tools.length > 0 ? toolPreamble : 0) +
    (reads ? toolTokens : 0) +
    maxTokens;
  const inputTokens = Math.ceil(size.bytes / 4) + size.pictures * likelyPictureTokens;
  return { most, likely: { units: inputTokens, inputTokens, outputTokens: 0 } };
}

interface PromptSize {
  /** Of all that is text, the names of fields included: they stand for what a provider writes around the texts. */
  bytes: number;
  fileTokens: number;
  pictures: number;
}

function measure(value: unknown, size: PromptSize): void {
  if (typeof value === 'string') size.bytes += Buffer.byteLength(value);
  else if (typeof value === 'number') size.bytes += String(value).length;
  if (typeof value !== 'object' || value === null) return;
  const { type, source } = value as { type?: unknown; source?: { type?: unknown; data?: unknown } };
  const isFile = source?.type === 'base64' || source?.type === 'url';
  if (isFile && type === 'image') size.pictures += 1;
  else if (isFile && source.type === 'url') size.fileTokens += documentTokens;
  else if (isFile && typeof source.data === 'string')
    size.fileTokens += Math.max(pictureTokens, source.data.length);
  for (const [name, inner] of Object.entries(value)) {
    if (!Array.isArray(value)) size.bytes += name.length;
    if (!(isFile && name === 'source')) measure(inner, size);
  }
}
