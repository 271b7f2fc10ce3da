/** Parses JSON. Undefined for any other text. */
export function parseJson(text: Buffer | string): unknown {
  try {
    return JSON.parse(text.toString());
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads a property of a value that may not be an object. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

export function objectField(value: unknown, name: string): Readonly<Record<string, unknown>> | undefined {
  const found = field(value, name);
  return isObject(found) ? found : undefined;
}

/** Reads a list. Empty without one. */
export function listField(value: unknown, name: string): readonly unknown[] {
  const found = field(value, name);
  return Array.isArray(found) ? found : [];
}

/** Reads a string that is not empty, and cuts it off after `max` characters. */
export function textField(value: unknown, name: string, max?: number): string | undefined {
  const text = field(value, name);
  return typeof text === 'string' && text !== '' ? text.slice(0, max) : undefined;
}

/** Reads a text as long as the longest prompt. */
export function longTextField(value: unknown, name: string): string | undefined {
  return textField(value, name, 20_000);
}

/** Reads a finite number, also from a string. */
export function numberField(value: unknown, name: string): number | undefined {
  const found = field(value, name);
  const number = typeof found === 'string' && found.trim() !== '' ? Number(found) : found;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Reads a number in a range. */
export function numberBetween(value: unknown, name: string, min: number, max = Number.MAX_VALUE) {
  const number = numberField(value, name);
  return number !== undefined && number >= min && number <= max ? number : undefined;
}

/** Reads a number with or without a percent sign. Default 0. */
export function percentField(value: unknown, name: string): number {
  const percent = textField(value, name)?.replace(/%$/, '') ?? field(value, name);
  return numberField({ percent }, 'percent') ?? 0;
}

export function booleanField(value: unknown, name: string): boolean | undefined {
  const found = field(value, name);
  return typeof found === 'boolean' ? found : undefined;
}

/** Reads a number, rounded to an integer that is not negative. */
export function countField(value: unknown, name: string): number | undefined {
  const number = integerField(value, name) ?? -1;
  return number >= 0 ? number : undefined;
}

/** Reads a number, rounded to an integer. */
export function integerField(value: unknown, name: string): number | undefined {
  const rounded = Math.round(numberField(value, name) ?? Number.NaN);
  return Number.isSafeInteger(rounded) ? rounded : undefined;
}

/** Reads a date. Returns epoch milliseconds, or NaN without one. */
export function timeField(value: unknown, name: string): number {
  return Date.parse(textField(value, name) ?? '');
}

type Optional<T> = {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};
type Required<T> = { [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] };

/** Removes the properties without a value. */
export function defined<T extends object>(values: T): Optional<T> & Required<T> {
  const present = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as Optional<T> & Required<T>;
}

/** Reads the fields that have a valid value, each with its own reader. */
export function readFields<
  Readers extends Readonly<Record<string, (value: unknown, name: string) => unknown>>,
>(value: unknown, readers: Readers) {
  const found: { [Name in keyof Readers]?: NonNullable<ReturnType<Readers[Name]>> } = {};
  for (const [name, read] of Object.entries(readers))
    Object.assign(found, defined({ [name]: read(value, name) }));
  return found;
}

/** Copies the named properties that have a value. */
export function pick<T extends object, Name extends keyof T & string>(
  from: T,
  names: readonly Name[],
): Partial<Pick<T, Name>> {
  return pickDefined(names, (name) => from[name]) as Partial<Pick<T, Name>>;
}

/** Collects the defined values of the names. */
export function pickDefined<Name extends string, Value>(
  names: readonly Name[],
  valueOf: (name: Name) => Value | undefined,
): Partial<Record<Name, Value>> {
  const values = names.map((name) => [name, valueOf(name)] as const);
  return defined(Object.fromEntries(values)) as Partial<Record<Name, Value>>;
}

/** Reads an upstream id that can be stored and used in a path. */
export function idField(value: unknown, name: string): string | undefined {
  const id = textField(value, name);
  // PostgreSQL rejects NUL, and a path rejects lone surrogates.
  const usable = id !== undefined && id.length <= 256 && !/^\.*$|\0/.test(id) && id.isWellFormed();
  return usable ? id : undefined;
}

const maxUrlLength = 8_192;

/** Reads an http or https URL and normalizes it. */
export function urlField(value: unknown, name: string): string | undefined {
  const text = textField(value, name) ?? '';
  const url = text.length > maxUrlLength ? null : URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : undefined;
}
