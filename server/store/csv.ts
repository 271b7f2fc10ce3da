/** Texts that a spreadsheet treats as a formula, and texts that start like an escaped one. */
const formula = /^['\t\r\n]|^\s*[=+\-@＝＋－＠]/;

/** Characters that a terminal or an editor interprets instead of displaying them. */
export const control = /\p{Cc}|\p{Bidi_Control}/gu;

/** Formats a field as in RFC 4180. Texts are quoted, formulas get an apostrophe, and U+FFFD replaces control characters. */
function csvField(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const shown = value.replaceAll(control, '\uFFFD');
  return `"${formula.test(value) ? "'" : ''}${shown.replaceAll('"', '""')}"`;
}

/** Formats a line of CSV with its line break. */
export const csvLine = (values: readonly (string | number | null)[]): string =>
  `${values.map(csvField).join(',')}\r\n`;
