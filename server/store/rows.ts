import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { columnNames, columnOf, type SnakeCase, type SnakeCased } from './columns.ts';
import type { Db } from './schema.ts';
import { isPostgres, type SqlValue } from './statement.ts';

const integers = columnNames(
  'amount, asked_at, attempt, bucket, completion_tokens, cost, created_at, deadline_at, debt, duration_ms, failures',
  'leased, new_user, next_poll_at, now, opened_at, ordinal, poll_interval, polled_at, progress, prompt_tokens, queued_at, quota',
  'remain, reserved, retry_count, slots, status, token_id, unlimited, used, user_id, wallet',
  'wallet_id',
);
const fractions = columnNames('expected_units, group_ratio, unit_price, units');

/** PostgreSQL types of the columns that are not text. A name has the same type in all tables. */
const columnTypes: ReadonlyMap<string, string> = new Map([
  ...integers.map((name) => [name, 'bigint'] as const),
  ...fractions.map((name) => [name, 'double precision'] as const),
]);

type NumberColumn = (typeof integers)[number] | (typeof fractions)[number];

/** Records for `rowsOf`: a column that is not in the lists above has text. */
type Records<Fields> = readonly (Fields & {
  [Name in keyof Fields & string]: (SnakeCase<Name> extends NumberColumn ? number : string) | null;
})[];

/** Columns and SQL texts for records with some fields. */
function createShape(fields: readonly string[]) {
  const columns = fields.map(columnOf);
  const types = columns.map((column) => columnTypes.get(column) ?? 'text');
  return {
    fields,
    columns,
    sqliteColumns: columns.map((column, index) => `value ->> ${index} as ${column}`).join(', '),
    postgresColumns: fields.map((field, index) => `"${field}" as ${columns[index]}`).join(', '),
    postgresTypes: fields.map((field, index) => `"${field}" ${types[index]}`).join(', '),
  };
}

const shapes = new Map<string, ReturnType<typeof createShape>>();

function shapeOf(records: readonly object[]) {
  const fields = Object.keys(records[0] ?? {});
  return shapes.getOrInsertComputed(fields.join(), () => createShape(fields));
}

/** Returns the columns of records, which all have the same fields. */
export const columnsOf = (records: readonly object[]): readonly string[] => shapeOf(records).columns;

/**
 * Records as a table to select from, passed as one parameter, so that the text of the statement does not depend on their number. Fields
 * in camelCase become columns in snake_case. There must be at least one record.
 *
 * @example
 * sql`select r.token_id from ${rowsOf(db, [{ tokenId: 1 }, { tokenId: 2 }])} as r`
 */
export function rowsOf<Fields extends Record<string, SqlValue>>(
  db: Db,
  records: Records<Fields>,
): RawBuilder<SnakeCased<Fields>> {
  const { fields, sqliteColumns, postgresColumns, postgresTypes } = shapeOf(records);
  if (isPostgres(db))
    return sql`(select ${sql.raw(postgresColumns)}
      from json_to_recordset(${storableJson(records)}::json) as j(${sql.raw(postgresTypes)}))`;
  const lists = storableJson(records.map((record) => fields.map((field) => record[field])));
  // Materialized, since SQLite otherwise serializes each row again for each of its columns.
  return sql`(with list as materialized (select value from json_each(${lists}))
    select ${sql.raw(sqliteColumns)} from list)`;
}

/** The records whose key, lease or wallet exists, by `token_id`, `lease` or `user_id`. Locked in the order of ids, so that transactions do not deadlock. */
export function lockedRowsOf<Fields extends Record<string, SqlValue>>(
  db: Db,
  table: keyof typeof lockKeys,
  records: Records<Fields>,
): RawBuilder<unknown> {
  const all = rowsOf<Fields>(db, records);
  if (!isPostgres(db)) return all;
  const { record, column } = lockKeys[table];
  const id = sql.ref(`t.${column}`);
  return sql`(select r.* from ${sql.table(table)} t join ${all} as r on ${sql.ref(`r.${record}`)} = ${id}
    order by ${id} for no key update of t)`;
}

/** The column of a record that names a row of a table, and the key of that table. */
const lockKeys = {
  tokens: { record: 'token_id', column: 'id' },
  quota_leases: { record: 'lease', column: 'id' },
  wallets: { record: 'user_id', column: 'user_id' },
} as const;

/** Escapes that PostgreSQL cannot convert from JSON to text: NUL and surrogates. */
const unstorable = /\\u(?:0000|d[89a-f])/;

function storableJson(rows: readonly unknown[]): string {
  const json = JSON.stringify(rows);
  if (!unstorable.test(json)) return json;
  return JSON.stringify(rows, (_, value: unknown) => storable(value));
}

/** Removes NUL from a text and replaces lone surrogates, which PostgreSQL cannot store. Returns other values unchanged. */
export function storable<Value>(value: Value): Value | string {
  return typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value;
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
