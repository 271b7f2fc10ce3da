import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from './schema.ts';
import { isPostgres, type SqlValue } from './statement.ts';

export type ColumnType = 'text' | 'bigint' | 'integer' | 'double precision';

/**
 * Rows of plain data as something to select from, in one parameter, so that a statement is the same for however many.
 *
 * @example
 * sql`select r.id from ${rowsOf(db, { id: 'bigint' }, [{ id: 1 }, { id: 2 }])} as r`
 */
export function rowsOf<Row extends Record<string, SqlValue>>(
  db: Kysely<Database>,
  columns: Readonly<Record<keyof Row & string, ColumnType>>,
  rows: readonly Row[],
): RawBuilder<Row> {
  const names = Object.keys(columns);
  if (isPostgres(db)) {
    const types = names.map((name) => `${name} ${columns[name as keyof Row & string]}`);
    return sql`(select * from json_to_recordset(${storableJson(rows)}::json) as j(${sql.raw(types.join(', '))}))`;
  }
  const lists = storableJson(rows.map((row) => names.map((name) => row[name])));
  const values = names.map((name, index) => `value ->> ${index} as ${name}`);
  // Materialized, since SQLite would else write down each row anew for each of its columns.
  return sql`(with list as materialized (select value from json_each(${lists}))
    select ${sql.raw(values.join(', '))} from list)`;
}

/**
 * The same, of those whose `id` a table has. On PostgreSQL these are locked in one order, so that two who do this at once do
 * not wait for each other in a circle; on SQLite nobody else writes.
 */
export function lockedRowsOf<Row extends Record<string, SqlValue>>(
  db: Kysely<Database>,
  table: 'tokens' | 'quota_leases',
  columns: Readonly<Record<keyof Row & string, ColumnType>>,
  rows: readonly Row[],
): RawBuilder<unknown> {
  const given = rowsOf(db, columns, rows);
  if (!isPostgres(db)) return given;
  return sql`(select r.* from ${sql.table(table)} t join ${given} as r on r.id = t.id
    order by t.id for no key update of t)`;
}

/** What PostgreSQL cannot read out of JSON into a text: NUL, and half of a surrogate pair. */
const unstorable = /\\u(?:0000|d[89a-f])/;

function storableJson(rows: readonly unknown[]): string {
  const json = JSON.stringify(rows);
  if (!unstorable.test(json)) return json;
  return JSON.stringify(rows, (_, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value,
  );
}

/** Matches a column against any number of values, which are one parameter. */
export function oneOf(
  db: Kysely<Database>,
  column: RawBuilder<unknown>,
  values: readonly (number | string)[],
): RawBuilder<SqlBool> {
  if (isPostgres(db)) return sql<SqlBool>`${column} = any(${values})`;
  return sql<SqlBool>`${column} in (select value from json_each(${JSON.stringify(values)}))`;
}
