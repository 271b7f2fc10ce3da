import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from './schema.ts';
import { isPostgres } from './statement.ts';

// On PostgreSQL the request log has a partition for each day. A day is a number of days since 1970 in UTC.

/** Milliseconds. */
export const dayMs = 86_400_000;

/** The default partition, for days without their own. It has few entries, and is the template of new partitions. */
export const otherDays = 'request_log_other';

/** Day of a time in epoch milliseconds. */
export const dayOf = (ms: number) => Math.floor(ms / dayMs);

/** Name of the partition of a day, with its date: `request_log_20261122`. */
export const partitionOf = (day: number) =>
  `request_log_${new Date(day * dayMs).toISOString().slice(0, 10).replaceAll('-', '')}`;

/** Day of a partition. Undefined for other tables. */
export function dayOfPartition(name: string): number | undefined {
  const [, year, month, date] = /^request_log_(\d{4})(\d\d)(\d\d)$/.exec(name) ?? [];
  return date === undefined ? undefined : dayOf(Date.UTC(Number(year), Number(month) - 1, Number(date)));
}

/** Limits a day to the range of its column. */
const clamp = (day: number) => Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, day));

/** Condition that an entry is of a range of days, both ends included. Always true on SQLite, which has no partitions. */
export function onDays(db: Db, first: number, last: number): RawBuilder<SqlBool> {
  if (!isPostgres(db)) return sql<SqlBool>`true`;
  return sql<SqlBool>`(day >= ${clamp(first)} and day <= ${clamp(last)})`;
}

/** Condition that an entry is of the range of days that includes all of some times, in epoch milliseconds. */
export function onDaysOf(db: Db, times: readonly number[]): RawBuilder<SqlBool> {
  const days = times.map(dayOf);
  return onDays(db, Math.min(...days), Math.max(...days));
}

/** Condition that an entry is of one of some days, which can be far apart. */
export function onDaysAmong(db: Db, days: readonly number[]): RawBuilder<SqlBool> {
  if (!isPostgres(db)) return sql<SqlBool>`true`;
  return sql<SqlBool>`day in (${sql.join([...new Set(days)].map(clamp))})`;
}

/** Reads the days that have a partition, in order. None on SQLite. */
export async function readLogDays(db: Db): Promise<number[]> {
  if (!isPostgres(db)) return [];
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'request_log'::regclass order by c.relname`.execute(db);
  return rows.flatMap(({ name }) => dayOfPartition(name) ?? []);
}
