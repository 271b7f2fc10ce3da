import { textField } from '../json.ts';

/** A property that is an http or https address. */
export function webAddress(value: unknown, name: string): string | undefined {
  const text = textField(value, name);
  return text !== undefined && /^https?:$/.test(URL.parse(text)?.protocol ?? '') ? text : undefined;
}
