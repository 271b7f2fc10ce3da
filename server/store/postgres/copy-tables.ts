import type { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { SettingsError } from '../../settings/settings-error.ts';
import { addLogDays } from '../commands/log-days.ts';
import type { Db } from '../schema.ts';

/**
 * Tables that are not copied: each database has its own migrations, the gateway of the source has stopped, and triggers of the
 * target count the log.
 */
const omitted = ['schema_migrations', 'gateways', 'log_counts'];

/** A migration inserts its only row. */
const seeded = 'log_figures_mark';

/** Largest number of rows, and approximately of characters, that are in memory and in one statement. */
const maxRows = 1_000;
const maxLength = 4_000_000;

/** Lists the tables of a SQLite database, those without references to others first. */
export function tablesToCopy(source: DatabaseSync): string[] {
  const rows = source
    .prepare(
      `select t.name from sqlite_schema t
       where t.type = 'table' and t.name not like 'sqlite\\_%' escape '\\'
       order by exists (select 1 from pragma_foreign_key_list(t.name)), t.name`,
    )
    .all();
  return rows.map(({ name }) => String(name)).filter((name) => !omitted.includes(name));
}

export function countRows(source: DatabaseSync, table: string): number {
  return Number(source.prepare(`select count(*) as total from "${table}"`).get()?.total);
}

/** @throws SettingsError when a table has rows that no migration has inserted */
export async function requireEmpty(target: Db, tables: readonly string[]): Promise<void> {
  for (const table of ['gateways', ...tables]) {
    if (table === seeded) continue;
    const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(target);
    if (rows.length > 0)
      throw new SettingsError(`The target must be an empty database, but its table ${table} has rows.`);
  }
}

/** Copies the rows of a table. Returns their number. */
export async function copyTable(
  source: DatabaseSync,
  target: Db,
  table: string,
  signal: AbortSignal,
): Promise<number> {
  if (table === seeded) await sql`delete from ${sql.table(table)}`.execute(target);
  if (table === 'request_log') await addPartitions(source, target);
  const insert = inserter(source, target, table);
  let batch: string[] = [];
  let length = 0;
  let copied = 0;
  const flush = async () => {
    signal.throwIfAborted();
    await insert(`[${batch.join(',')}]`);
    copied += batch.length;
    batch = [];
    length = 0;
  };
  for (const row of source.prepare(`select * from "${table}"`).iterate()) {
    const text = JSON.stringify(row);
    batch.push(text);
    length += text.length;
    if (batch.length >= maxRows || length >= maxLength) await flush();
  }
  if (batch.length > 0) await flush();
  await sql`analyze ${sql.table(table)}`.execute(target);
  return copied;
}

/** Returns a function that inserts rows given as a JSON array. PostgreSQL converts them to the types of the columns. */
function inserter(source: DatabaseSync, target: Db, table: string) {
  const names = source.prepare('select name from pragma_table_info(?)').all(table);
  const columns = sql.join(names.map(({ name }) => sql.ref(String(name))));
  const [day, dayOfEntry] =
    table === 'request_log' ? [sql`, day`, sql`, created_at / 86400`] : [sql``, sql``];
  return (rows: string) =>
    sql`
      insert into ${sql.table(table)} (${columns}${day})
      select ${columns}${dayOfEntry}
      from json_populate_recordset(null::${sql.table(table)}, ${rows}::json)`.execute(target);
}

/** Adds a partition for each day of the log. */
async function addPartitions(source: DatabaseSync, target: Db): Promise<void> {
  const days = source.prepare('select distinct created_at / 86400 as day from request_log').all();
  for (const { day } of days) await addLogDays(target, { first: Number(day), last: Number(day) });
  // `addLogDays` limits the wait for locks in its transaction.
  await sql`set local lock_timeout = 0`.execute(target);
}

/** Continues the numbers of rows after the highest number that was ever assigned. */
export async function restartSequences(source: DatabaseSync, target: Db): Promise<void> {
  const sequences = source.prepare('select name, seq from sqlite_sequence where seq > 0').all();
  for (const { name, seq } of sequences)
    await sql`select setval(pg_get_serial_sequence(${String(name)}, 'id'), ${Number(seq)})`.execute(target);
}
