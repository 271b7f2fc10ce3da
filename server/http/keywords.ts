import { type Ajv, type Format, str } from 'ajv';

/**
 * What the contract's formats mean, where the validator's own idea of them lets too much pass. Every address that the
 * contract takes is of the format `uri`.
 */
export const formats: Readonly<Record<string, Format>> = {
  uri: { type: 'string', validate: isAddress },
};

/** Begins every data URL that a provider can read. */
const dataHead = /^data:[^,\s]{0,300},/i;

/** Whether a text is an address that all who read it understand alike. */
function isAddress(text: string): boolean {
  if (/^data:/i.test(text)) return dataHead.test(text.slice(0, 400));
  // A URL parser leaves out blanks and control characters, so that others may see another address than we do.
  return !/[\s\p{Cc}\\]/u.test(text) && URL.canParse(text);
}

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
