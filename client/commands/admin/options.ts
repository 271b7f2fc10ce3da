import { UsageError } from '../check-options.ts';

/** An option of a command. */
export interface AdminOption<Value = unknown> {
  /** What its value is, in capitals; left out for one that takes none. */
  takes?: string;
  does: string;
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

export type Values<Options> = { [Name in keyof Options]?: ValueOf<Options[Name]> };

/** A whole number. */
export function whole(text: string, name: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw new UsageError(`${name}: not a whole number.`);
  return Number(text);
}

/** A number with an optional fraction. */
export function decimal(text: string, name: string): number {
  if (!/^\d{1,12}(\.\d{1,9})?$/.test(text)) throw new UsageError(`${name}: not a number.`);
  return Number(text);
}

/** Yes or no. */
export function yesOrNo(text: string, name: string): boolean {
  if (text !== 'yes' && text !== 'no') throw new UsageError(`${name}: yes or no.`);
  return text === 'yes';
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

/** A moment, in Unix seconds: a date, a date with a time, or how long ago, such as 24h. */
export function moment(text: string, name: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return Math.floor(Date.now() / 1_000) - Number(count) * (units[unit] ?? 0);
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw new UsageError(`${name}: a date such as 2026-11-22, or a span such as 24h.`);
  return Math.floor(time / 1_000);
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
