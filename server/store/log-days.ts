import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from './schema.ts';
import { isPostgres } from './statement.ts';

// On PostgreSQL the request log has a partition for each day. A day is a number, of days since 1970 in UTC.

/** Milliseconds. */
export const dayMs = 86_400_000;

/** The entries that say no day: those from before there were days, and those of gateways of such a version. */
export const undated = 'request_log_before';
/** The entries of days that have no partition, hardly any; and the pattern for partitions. */
export const otherDays = 'request_log_other';

/** Of a time in epoch milliseconds. */
export const dayOf = (ms: number) => Math.floor(ms / dayMs);

/** The partition of a day, named by its date: `request_log_20261122`. */
export const partitionOf = (day: number) =>
  `request_log_${new Date(day * dayMs).toISOString().slice(0, 10).replaceAll('-', '')}`;

/** Undefined: it is none of a day. */
export function dayOfPartition(name: string): number | undefined {
  const [, year, month, date] = /^request_log_(\d{4})(\d\d)(\d\d)$/.exec(name) ?? [];
  return date === undefined ? undefined : dayOf(Date.UTC(Number(year), Number(month) - 1, Number(date)));
}

/** A day as its column takes it. */
const within = (day: number) => Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, day));

/** That an entry is of one of the days, the last one too. SQLite, whose log has no partitions, looks at none. */
export function onDays(db: Kysely<Database>, first: number, last: number): RawBuilder<SqlBool> {
  if (!isPostgres(db)) return sql<SqlBool>`true`;
  return sql<SqlBool>`(day >= ${within(first)} and day <= ${within(last)})`;
}

/** That an entry is of one of some days, however far they lie apart. */
export function onDaysAmong(db: Kysely<Database>, days: readonly number[]): RawBuilder<SqlBool> {
  if (!isPostgres(db)) return sql<SqlBool>`true`;
  return sql<SqlBool>`day in (${sql.join([...new Set(days)].map(within))})`;
}

/** As those from one day to another, with the entries that say no day: all entries of these days are among them. */
export function onDaysOrUndated(db: Kysely<Database>, first: number, last: number): RawBuilder<SqlBool> {
  if (!isPostgres(db)) return sql<SqlBool>`true`;
  return sql<SqlBool>`(day = 0 or ${onDays(db, first, last)})`;
}
