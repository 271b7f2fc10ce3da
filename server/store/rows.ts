import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { columnNames } from './columns.ts';
import type { Db } from './schema.ts';
import { isPostgres, type SqlValue } from './statement.ts';

const integers = columnNames(
  'amount, asked_at, attempt, bucket, completion_tokens, created_at, deadline_at, debt, duration_ms, failures, leased',
  'new_user, next_poll_at, now, opened_at, poll_interval, polled_at, progress, prompt_tokens, quota, remain, reserved, slots',
  'status, token_id, unlimited, used, user_id',
);
const fractions = columnNames('expected_units, group_ratio, unit_price, units');

/** PostgreSQL types of the columns that are not text. A name has the same type in all tables. */
const columnTypes: ReadonlyMap<string, string> = new Map([
  ...integers.map((name) => [name, 'bigint'] as const),
  ...fractions.map((name) => [name, 'double precision'] as const),
]);

type NumberColumn = (typeof integers)[number] | (typeof fractions)[number];

/** Rows for `rowsOf`: a column that is not in the lists above has text. */
type Rows<Row> = readonly (Row & {
  [Name in keyof Row]: (Name extends NumberColumn ? number : string) | null;
})[];

/**
 * Rows of data as a table to select from, passed as one parameter, so that the text of the statement does not depend on their number.
 * The rows must have the same columns, and there must be at least one.
 *
 * @example
 * sql`select r.token_id from ${rowsOf(db, [{ token_id: 1 }, { token_id: 2 }])} as r`
 */
export function rowsOf<Row extends Record<string, SqlValue>>(db: Db, rows: Rows<Row>): RawBuilder<Row> {
  const names = Object.keys(rows[0] ?? {});
  if (isPostgres(db)) {
    const types = names.map((name) => `${name} ${columnTypes.get(name) ?? 'text'}`);
    return sql`(select * from json_to_recordset(${storableJson(rows)}::json) as j(${sql.raw(types.join(', '))}))`;
  }
  const lists = storableJson(rows.map((row) => names.map((name) => row[name])));
  const values = names.map((name, index) => `value ->> ${index} as ${name}`);
  // Materialized, since SQLite otherwise serializes each row again for each of its columns.
  return sql`(with list as materialized (select value from json_each(${lists}))
    select ${sql.raw(values.join(', '))} from list)`;
}

/**
 * The rows whose key or lease exists, by the column `token_id` or `lease`. PostgreSQL locks these keys or leases in the order of
 * their ids, so that two transactions do not deadlock. SQLite has only one writer.
 */
export function lockedRowsOf<Row extends Record<string, SqlValue>>(
  db: Db,
  table: 'tokens' | 'quota_leases',
  rows: Rows<Row>,
): RawBuilder<unknown> {
  const all = rowsOf<Row>(db, rows);
  if (!isPostgres(db)) return all;
  const key = sql.ref(table === 'tokens' ? 'r.token_id' : 'r.lease');
  return sql`(select r.* from ${sql.table(table)} t join ${all} as r on ${key} = t.id
    order by t.id for no key update of t)`;
}

/** Escapes that PostgreSQL cannot convert from JSON to text: NUL and surrogates. */
const unstorable = /\\u(?:0000|d[89a-f])/;

function storableJson(rows: readonly unknown[]): string {
  const json = JSON.stringify(rows);
  if (!unstorable.test(json)) return json;
  return JSON.stringify(rows, (_, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value,
  );
}

/** Condition that a column has one of any number of values, passed as one parameter. */
export function oneOf(
  db: Db,
  column: RawBuilder<unknown>,
  values: readonly (number | string)[],
): RawBuilder<SqlBool> {
  if (isPostgres(db)) return sql<SqlBool>`${column} = any(${values})`;
  return sql<SqlBool>`${column} in (select value from json_each(${JSON.stringify(values)}))`;
}
