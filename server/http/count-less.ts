import { type Ajv, str } from 'ajv';

/**
 * Gives the lengths of texts a meaning that costs nothing for megabytes: characters, of which each is one or two units
 * of a text, are only counted where the number of units leaves a doubt.
 */
export function countLess(ajv: Ajv): void {
  define(ajv, 'maxLength', 'more', (most, text) => {
    if (text.length <= most || text.length > 2 * most) return text.length <= most;
    return characters(text) <= most;
  });
  define(ajv, 'minLength', 'fewer', (least, text) => text.length >= 2 * least || characters(text) >= least);
}

function define(
  ajv: Ajv,
  keyword: string,
  than: string,
  validate: (limit: number, text: string) => boolean,
): void {
  ajv.removeKeyword(keyword);
  ajv.addKeyword({
    keyword,
    type: 'string',
    schemaType: 'number',
    errors: false,
    validate,
    error: { message: ({ schemaCode }) => str`must NOT have ${than} than ${schemaCode} characters` },
  });
}

function characters(text: string): number {
  return Array.from(text).length;
}
