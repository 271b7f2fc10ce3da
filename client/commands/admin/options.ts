import type { OptionDefinitions, Values } from '../option.ts';
import { UsageError } from '../usage-error.ts';

/** Parses an integer. */
export function parseInteger(text: string, name: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw new UsageError(`${name} must be a whole number.`);
  return Number(text);
}

/** Parses a number with an optional fraction. */
export function parseDecimal(text: string, name: string): number {
  if (!/^\d{1,12}(\.\d{1,9})?$/.test(text)) throw new UsageError(`${name} must be a number.`);
  return Number(text);
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Parses a duration such as 24h. Returns seconds. */
function parseDuration(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (units[unit] ?? 0);
}

/** Parses a time to Unix seconds: a date, a date with a time, or an age such as 24h. */
export function parseTime(text: string, name: string): number {
  const seconds = parseDuration(text);
  if (seconds !== undefined) return Math.max(0, Math.floor(Date.now() / 1_000) - seconds);
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time))
    throw new UsageError(`${name} must be a date such as 2026-11-22, or a duration such as 24h.`);
  return Math.floor(time / 1_000);
}

/** Parses an expiry to Unix seconds: a date, a duration from now such as 30d, or `never`, which is -1. */
export function parseExpiry(text: string, name: string): number {
  if (text === 'never') return -1;
  const now = Math.floor(Date.now() / 1_000);
  const seconds = parseDuration(text);
  return seconds === undefined ? parseTime(text, name) : now + seconds;
}

/** Parses a limit: a number, or `default` for the configured limit. Commander replaces null, so a word stands for it. */
export function parseLimit(text: string, name: string): number | 'default' {
  return text === 'default' ? text : parseInteger(text, name);
}

/** Converts a comma-separated list to one entry per line. */
export function parseList(text: string): string {
  return text
    .split(',')
    .map((part) => part.trim())
    .join('\n');
}

/** Combines two opposite flags: true for the first, false for the second, undefined for neither. */
export function toggle(flags: Readonly<Record<string, boolean | undefined>>): boolean | undefined {
  const [on, off] = Object.entries(flags);
  if (on?.[1] && off?.[1]) throw new UsageError(`--${on[0]} and --${off[0]} cannot be combined.`);
  return on?.[1] ? true : off?.[1] ? false : undefined;
}

/** Options for the page of a list. */
export const paging = {
  page: { argument: 'NUMBER', description: 'page number; default 1', parse: parseInteger },
  'page-size': { argument: 'NUMBER', description: 'entries per page; default 20', parse: parseInteger },
} as const satisfies OptionDefinitions;

/** Options of a grant of quota. */
export const granting = {
  amount: {
    argument: 'QUOTA',
    description: 'in quota units; a negative amount withdraws, as in --amount=-100',
    parse: parseInteger,
    required: true,
  },
  reason: { argument: 'TEXT', description: 'reason, for the ledger', required: true },
} as const satisfies OptionDefinitions;

export function pageOf(options: Values<typeof paging>): { p?: number; page_size?: number } {
  const { page: p, 'page-size': page_size } = options;
  return { ...(p !== undefined && { p }), ...(page_size !== undefined && { page_size }) };
}
