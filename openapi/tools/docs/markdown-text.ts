/** Escapes characters of a text that are HTML or a Vue expression outside of inline code. */
export const prose = (text: string): string =>
  text
    .split(/(`[^`\n]*`)/)
    .map((part, index) =>
      index % 2 === 1 ? part : part.replaceAll('<', '&lt;').replaceAll('{{', '&#123;&#123;'),
    )
    .join('');

/** Returns a text for a cell of a table, in one line. */
export const cell = (text: string): string => prose(text).replaceAll('|', '\\|').replace(/\s+/g, ' ').trim();
