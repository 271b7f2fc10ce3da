import type { Format } from 'ajv';

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
