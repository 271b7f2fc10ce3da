import type { Limits } from '../../support/limits.ts';

/** Limits of the OpenAI Embeddings API. */
export const embeddings: Limits = {
  'EmbeddingInput/anyOf/0': { minLength: 1 },
  'EmbeddingInput/anyOf/1': { maxItems: 2048, minItems: 1 },
  'EmbeddingInput/anyOf/1[]': { minLength: 1 },
  'EmbeddingInput/anyOf/2': { maxItems: 8192, minItems: 1 },
  'EmbeddingInput/anyOf/2[]': { maximum: 2147483647, minimum: 0 },
  'EmbeddingInput/anyOf/3': { maxItems: 2048, minItems: 1 },
  'EmbeddingInput/anyOf/3[]': { maxItems: 8192, minItems: 1 },
  'EmbeddingInput/anyOf/3[][]': { maximum: 2147483647, minimum: 0 },
  'EmbeddingRequest.model': { maxLength: 200, minLength: 1 },
  'EmbeddingRequest.encoding_format': { enum: ['float', 'base64'], default: 'float' },
  'EmbeddingRequest.dimensions': { maximum: 65536, minimum: 1 },
};
