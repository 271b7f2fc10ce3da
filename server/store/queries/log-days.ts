import { sql } from 'kysely';
import { dayOfPartition } from '../log-days.ts';
import type { Db } from '../schema.ts';
import { isPostgres } from '../statement.ts';

/** Reads the days that have a partition of the log, in order. None on SQLite. */
export async function readLogDays(db: Db): Promise<number[]> {
  if (!isPostgres(db)) return [];
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'request_log'::regclass order by c.relname`.execute(db);
  return rows.flatMap(({ name }) => dayOfPartition(name) ?? []);
}
