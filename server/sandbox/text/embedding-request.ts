import { countTextTokens } from '../billing.ts';
import { isObject, type JsonObject } from '../http/json-body.ts';
import { invalidParameter } from '../http/native-error.ts';
import { resolveModel } from '../models.ts';
import { Parameters } from '../native/parameters.ts';
import type { EmbeddingText } from './embedding-vector.ts';

export interface EmbeddingRequest {
  model: string;
  texts: readonly EmbeddingText[];
  /** Encode vectors as Base64 of little-endian floats instead of numbers. */
  isBase64: boolean;
  dimensions: number;
}

const defaultDimensions = 512;
const maxDimensions = 2048;
const maxTexts = 2048;
const maxTokens = 8192;

/** Reads the body of a request. Throws a `NativeError` 400 or 404 if it is invalid. */
export function readEmbeddingRequest(body: JsonObject): EmbeddingRequest {
  const fields = new Parameters(body, '');
  const model = resolveModel(body.model, 'embeddings').id;
  const format = fields.choice('encoding_format', ['float', 'base64'], 'float');
  const dimensions = fields.integer('dimensions', { min: 1, max: maxDimensions }, defaultDimensions);
  return { model, texts: readTexts(body.input), isBase64: format === 'base64', dimensions };
}

function readTexts(input: unknown): readonly EmbeddingText[] {
  const texts: readonly unknown[] = Array.isArray(input) && !input.every(isToken) ? input : [input];
  if (texts.length > maxTexts) throw invalidParameter(`input must have at most ${maxTexts} texts`, 'input');
  return texts.map((text) => {
    if (!isText(text) || text.length === 0)
      throw invalidParameter('input must contain non-empty texts or lists of tokens', 'input');
    if (countTokens(text) > maxTokens)
      throw invalidParameter(`A text of input has more than ${maxTokens} tokens`, 'input');
    return text;
  });
}

/** Returns the number of billed tokens of a text. */
export function countTokens(text: EmbeddingText): number {
  return typeof text === 'string' ? countTextTokens(text) : text.length;
}

const isToken = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0;

function isText(value: unknown): value is EmbeddingText {
  return typeof value === 'string' || (Array.isArray(value) && !isObject(value) && value.every(isToken));
}
