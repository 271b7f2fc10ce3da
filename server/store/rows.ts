import { type Kysely, type RawBuilder, sql } from 'kysely';
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
): RawBuilder<unknown> {
  const names = Object.keys(columns);
  const json = JSON.stringify(rows);
  if (isPostgres(db)) {
    const types = names.map((name) => `${name} ${columns[name as keyof Row & string]}`);
    return sql`(select * from json_to_recordset(${json}::json) as j(${sql.raw(types.join(', '))}))`;
  }
  const values = names.map((name) => `value ->> '$.${name}' as ${name}`);
  return sql`(select ${sql.raw(values.join(', '))} from json_each(${json}))`;
}
