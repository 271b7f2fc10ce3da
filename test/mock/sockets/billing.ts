import type { CatalogueModel } from '../../../generated/catalogue.ts';
import type { JsonObject } from '../../../openapi/tools/document.ts';

/** Counts billing characters: a CJK ideograph is 2, any other character 1, an SSML tag 0. */
export function billingCharacters(text: string, ssml = false): number {
  const counted = ssml ? text.replaceAll(/<[^<>]*>/g, '') : text;
  return Array.from(counted).length + (counted.match(/\p{Unified_Ideograph}/gu) ?? []).length;
}

/** Returns usage in the unit of the model. The audio is shorter than one second, the minimum for tokens. */
export function usageOf({ unit }: CatalogueModel, characters: number): JsonObject {
  if (unit !== 'tokens') return { characters };
  const inputTokens = Math.ceil(characters / 3);
  return {
    input_tokens: inputTokens,
    output_tokens: 50,
    total_tokens: inputTokens + 50,
    input_tokens_details: { text_tokens: inputTokens },
    output_tokens_details: { audio_tokens: 50, text_tokens: 0 },
  };
}
