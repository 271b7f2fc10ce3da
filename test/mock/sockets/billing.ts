import type { CatalogueModel } from '../../../generated/catalogue.ts';
import type { JsonObject } from '../../../openapi/tools/document.ts';

/** Returns the charge at a price of one quota for each unit. */
export function costOf({ unit }: CatalogueModel, characters: number): number {
  if (characters === 0) return 0;
  return unit === 'tokens' ? Math.ceil(characters / 3) + 50 : characters;
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
