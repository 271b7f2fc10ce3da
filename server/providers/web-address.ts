import { textField } from './json.ts';

/** Characters of an address: more than signed ones have. */
const maxLength = 8_192;

/** A property that is an http or https address, written as every client would write it. */
export function webAddress(value: unknown, name: string): string | undefined {
  const text = textField(value, name) ?? '';
  const url = text.length > maxLength ? null : URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : undefined;
}
