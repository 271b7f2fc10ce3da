import { estimateTextTokens, type Usage } from './usage.ts';

/** A text or several texts, each as a string or as token numbers. */
export type EmbeddingInput = string | readonly string[] | readonly number[] | readonly (readonly number[])[];

/** Estimated tokens of a call. */
export interface TokenEstimate {
  /** Maximum input and output tokens, which are reserved. */
  most: number;
  /** Maximum output tokens among them. */
  mostOutput: number;
  /** Charged if the provider reports no usage. */
  likely: Usage;
}

/** Maximum tokens that a tokenizer adds at the start and end of a text. */
const maxMarkTokens = 8;

export function embeddingTexts(input: EmbeddingInput): readonly (string | readonly number[])[] {
  if (typeof input === 'string') return [input];
  return typeof input[0] === 'number' ? [input as readonly number[]] : (input as readonly string[]);
}

/** Estimates the tokens of an input. No tokenizer makes more than one token per byte. */
export function embeddingTokens(input: EmbeddingInput): TokenEstimate {
  let most = 0;
  let inputTokens = 0;
  for (const text of embeddingTexts(input)) {
    most += maxMarkTokens + (typeof text === 'string' ? Buffer.byteLength(text) : text.length);
    inputTokens += typeof text === 'string' ? estimateTextTokens(text) : text.length;
  }
  return { most, mostOutput: 0, likely: { units: inputTokens, inputTokens, outputTokens: 0 } };
}

/** Maximum tokens of an image, of a document by URL, and of the input that a provider's tools add. */
const [maxImageTokens, maxDocumentTokens, maxToolTokens] = [5_000, 100_000, 100_000];
/** Tools that the provider runs, and that add to the input. */
const readingTools = /^(web_|code_execution|mcp_)/;
/** Maximum tokens of a provider's prompt about tools. */
const toolPromptTokens = 1_000;
const likelyImageTokens = 1_500;

/** The parts of a conversation that have tokens. */
export interface Prompt {
  messages: readonly unknown[];
  system?: unknown;
  tools?: readonly { type?: string | null }[];
}

/** Estimates the tokens of a message. An inline file has at most one token per character of its Base64. */
export function messageTokens({ messages, system, tools = [] }: Prompt, maxTokens = 0): TokenEstimate {
  const size = { bytes: 0, fileTokens: 0, images: 0 };
  for (const part of [messages, system, tools]) measure(part, size);
  const reads = tools.some(({ type }) => readingTools.test(type ?? ''));
  const most =
    size.bytes +
    size.fileTokens +
    size.images * maxImageTokens +
    (tools.length > 0 ? toolPromptTokens : 0) +
    (reads ? maxToolTokens : 0) +
    maxTokens;
  const inputTokens = Math.ceil(size.bytes / 4) + size.images * likelyImageTokens;
  return { most, mostOutput: maxTokens, likely: { units: inputTokens, inputTokens, outputTokens: 0 } };
}

interface PromptSize {
  /** Bytes of all texts and field names. The names approximate the provider's own prompt around the texts. */
  bytes: number;
  fileTokens: number;
  images: number;
}

function measure(value: unknown, size: PromptSize): void {
  if (typeof value === 'string') size.bytes += Buffer.byteLength(value);
  else if (typeof value === 'number') size.bytes += String(value).length;
  if (typeof value !== 'object' || value === null) return;
  const { type, source } = value as { type?: unknown; source?: { type?: unknown; data?: unknown } };
  const isFile = source?.type === 'base64' || source?.type === 'url';
  if (isFile && type === 'image') size.images += 1;
  else if (isFile && source.type === 'url') size.fileTokens += maxDocumentTokens;
  else if (isFile && typeof source.data === 'string')
    size.fileTokens += Math.max(maxImageTokens, source.data.length);
  for (const [name, inner] of Object.entries(value)) {
    if (!Array.isArray(value)) size.bytes += name.length;
    if (!(isFile && name === 'source')) measure(inner, size);
  }
}
