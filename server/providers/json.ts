/** A property of something that may not be an object. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** A property that is a text, and not an empty one. */
export function textField(value: unknown, name: string): string | undefined {
  const text = field(value, name);
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** A property that is a finite number, also where it comes as a text. */
export function numberField(value: unknown, name: string): number | undefined {
  const found = field(value, name);
  const number = typeof found === 'string' && found.trim() !== '' ? Number(found) : found;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** A property that is a number, also with a percent sign behind it; 0 where it is none. */
export function percentField(value: unknown, name: string): number {
  const told = textField(value, name)?.replace(/%$/, '') ?? field(value, name);
  return numberField({ told }, 'told') ?? 0;
}

/** A property that is true or false. */
export function flagField(value: unknown, name: string): boolean | undefined {
  const found = field(value, name);
  return typeof found === 'boolean' ? found : undefined;
}

/** A property that is a number of things: whole and not negative. */
export function countField(value: unknown, name: string): number | undefined {
  const number = wholeField(value, name);
  return number !== undefined && number >= 0 ? number : undefined;
}

/** A property that is a number, rounded. */
export function wholeField(value: unknown, name: string): number | undefined {
  const rounded = Math.round(numberField(value, name) ?? Number.NaN);
  return Number.isSafeInteger(rounded) ? rounded : undefined;
}

/** The named values that are there. */
export function picked<Name extends string, Value>(
  names: readonly Name[],
  valueOf: (name: Name) => Value | undefined,
): Partial<Record<Name, Value>> {
  const found: Partial<Record<Name, Value>> = {};
  for (const name of names) {
    const value = valueOf(name);
    if (value !== undefined) found[name] = value;
  }
  return found;
}

/** A property that is an object. */
export function objectField(value: unknown, name: string): Readonly<Record<string, unknown>> | undefined {
  const found = field(value, name);
  return typeof found === 'object' && found !== null && !Array.isArray(found)
    ? (found as Record<string, unknown>)
    : undefined;
}

/** A property that is the id an upstream gave to something: a text that can be kept and stand in a path. */
export function idField(value: unknown, name: string): string | undefined {
  const id = textField(value, name);
  // PostgreSQL keeps no NUL, and a path takes no half of a character.
  const usable = id !== undefined && id.length <= 256 && !/^\.*$|\0/.test(id) && id.isWellFormed();
  return usable ? id : undefined;
}

/** Characters of an address: more than signed ones have. */
const maxLength = 8_192;

/** A property that is an http or https address, written as every client would write it. */
export function webAddress(value: unknown, name: string): string | undefined {
  const text = textField(value, name) ?? '';
  const url = text.length > maxLength ? null : URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : undefined;
}
