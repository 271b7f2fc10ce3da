/** Maximum length of a printed text, in characters. */
const maxLength = 4_600;

/** Control characters, and the replacement of bytes that are not UTF-8. Tabs and line breaks are printed. */
// oxlint-disable-next-line no-control-regex
const unprintable = /[\0-\u0008\u000b-\u001f\u007f-\u009f\ufffd]+/g;

/** Base64 of at least 128 characters, such as audio. */
const base64 = /[A-Za-z0-9+/]{128,}={0,2}/g;

/** Replaces control characters and bytes with `·`. */
export const withoutBytes = (text: string): string => text.replace(unprintable, '·');

/**
 * Makes a text safe for a terminal: control characters and bytes become `·`, long Base64 becomes its length, and a long
 * text is truncated.
 */
export function printable(text: string): string {
  const short = withoutBytes(
    text.replace(base64, (found) =>
      // Repeated characters, such as those of a value at a limit, are text.
      new Set(found).size < 8 ? found : `<Base64, ${found.length} characters>`,
    ),
  );
  return short.length <= maxLength ? short : `${short.slice(0, maxLength)}… (${short.length} characters)`;
}
