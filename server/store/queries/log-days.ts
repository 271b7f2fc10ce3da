import { type Kysely, sql } from 'kysely';
import { dayOfPartition } from '../log-days.ts';
import type { Database } from '../schema.ts';
import { isPostgres } from '../statement.ts';

/** The days that have a partition of the log, in order; on SQLite there are none. */
export async function readLogDays(db: Kysely<Database>): Promise<number[]> {
  if (!isPostgres(db)) return [];
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'request_log'::regclass order by c.relname`.execute(db);
  return rows.flatMap(({ name }) => dayOfPartition(name) ?? []);
}
