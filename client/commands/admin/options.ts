import { UsageError } from '../check-options.ts';

/** An option of a command. */
export interface AdminOption<Value = unknown> {
  /** What its value is, in capitals; left out for one that takes none. */
  takes?: string;
  does: string;
  /** Whether the command cannot do without it. */
  required?: true;
  /** One letter. */
  short?: string;
  /** Reads the value; a text that it cannot read throws UsageError. */
  read?: (text: string, name: string) => Value;
}

export type AdminOptions = Readonly<Record<string, AdminOption>>;

type ValueOf<Option> = Option extends { read: (text: string, name: string) => infer Value }
  ? Value
  : Option extends { takes: string }
    ? string
    : true;

type RequiredOf<Options> = {
  [Name in keyof Options]: Options[Name] extends { required: true } ? Name : never;
}[keyof Options];

export type Values<Options> = {
  [Name in keyof Options]?: ValueOf<Options[Name]>;
} & { [Name in RequiredOf<Options>]: ValueOf<Options[Name]> };

/** A whole number. */
export function whole(text: string, name: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw new UsageError(`${name}: not a whole number.`);
  return Number(text);
}

/** A number that may have a fraction. */
export function decimal(text: string, name: string): number {
  if (!/^\d{1,12}(\.\d{1,9})?$/.test(text)) throw new UsageError(`${name}: not a number.`);
  return Number(text);
}

/** One of some words. */
export function oneOf<const Word extends string>(...words: Word[]): (text: string, name: string) => Word {
  return (text, name) => {
    const found = words.find((word) => word === text);
    if (found === undefined) throw new UsageError(`${name}: one of ${words.join(', ')}.`);
    return found;
  };
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** The seconds of a span such as 24h. */
function spanOf(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (units[unit] ?? 0);
}

/** A moment, in Unix seconds: a date, a date with a time, or how long ago, such as 24h. */
export function moment(text: string, name: string): number {
  const span = spanOf(text);
  if (span !== undefined) return Math.max(0, Math.floor(Date.now() / 1_000) - span);
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw new UsageError(`${name}: a date such as 2026-11-22, or a span such as 24h.`);
  return Math.floor(time / 1_000);
}

/** When something ends, in Unix seconds: a date, in how long, such as 30d, or never, which is -1. */
export function end(text: string, name: string): number {
  if (text === 'never') return -1;
  const now = Math.floor(Date.now() / 1_000);
  const span = spanOf(text);
  return span === undefined ? moment(text, name) : now + span;
}

/** A number, or undefined as null: what the configuration says. */
export function limit(text: string, name: string): number | null {
  return text === 'default' ? null : whole(text, name);
}

/** What is separated by commas, one a line. */
export function listed(text: string): string {
  return text
    .split(',')
    .map((part) => part.trim())
    .join('\n');
}

/** Two flags that say the opposite: true for the first, false for the second, undefined for neither. */
export function onOrOff(flags: Readonly<Record<string, boolean | undefined>>): boolean | undefined {
  const [on, off] = Object.entries(flags);
  if (on?.[1] && off?.[1]) throw new UsageError(`--${on[0]} goes without --${off[0]}.`);
  return on?.[1] ? true : off?.[1] ? false : undefined;
}

/** The page of a list. */
export const paging = {
  page: { takes: 'NUMBER', does: 'which page; default 1', read: whole },
  'page-size': { takes: 'NUMBER', does: 'entries a page; default 20', read: whole },
} as const satisfies AdminOptions;

export function pageOf(options: Values<typeof paging>): { p?: number; page_size?: number } {
  const { page: p, 'page-size': page_size } = options;
  return { ...(p !== undefined && { p }), ...(page_size !== undefined && { page_size }) };
}
