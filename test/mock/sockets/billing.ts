import type { CatalogueModel } from '../../../generated/catalogue.ts';
import type { JsonObject } from '../../../openapi/tools/document.ts';

/** Billing characters: a CJK ideograph counts 2, anything else 1, SSML tags 0. */
export function billingCharacters(text: string, ssml = false): number {
  const counted = ssml ? text.replaceAll(/<[^<>]*>/g, '') : text;
  return Array.from(counted).length + (counted.match(/\p{Unified_Ideograph}/gu) ?? []).length;
}

/** A usage figure in the unit of the model; the mock's audio is short of a second, the least that tokens count. */
export function usageOf({ unit }: CatalogueModel, characters: number): JsonObject {
  if (unit !== 'tokens') return { characters };
  const read = Math.ceil(characters / 3);
  return {
    input_tokens: read,
    output_tokens: 50,
    total_tokens: read + 50,
    input_tokens_details: { text_tokens: read },
    output_tokens_details: { audio_tokens: 50, text_tokens: 0 },
  };
}
