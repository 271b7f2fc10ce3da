import {
  CompiledQuery,
  PostgresAdapter,
  type QueryExecutorProvider,
  type QueryResult,
  type RawBuilder,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import type { Db } from './schema.ts';

export type SqlValue = string | number | null;

/** How PostgreSQL runs a statement. SQLite ignores these options. */
export interface StatementOptions {
  /** Plans it once for each connection. Only for statements whose best plan never changes, as inserts and look-ups by primary key. */
  readonly prepared?: boolean;
  /** Sends the next statement without waiting. The next one reports its failure. Only for statements without `returning`. */
  readonly pipelined?: boolean;
}

/** A compiled query with options, which Kysely passes to the driver. */
export type QueryWithOptions<Row = unknown> = CompiledQuery<Row> & { readonly options?: StatementOptions };

/** A query of Kysely, or raw SQL. */
interface Compilable<Row = unknown> {
  compile(provider: QueryExecutorProvider): CompiledQuery<Row>;
}

/**
 * Runs a query with options.
 *
 * @example
 * const { rows } = await execute<{ id: number }>(db, sql`update tokens …`, { prepared: true });
 */
export function execute<Row>(
  db: Db,
  query: Compilable<Row>,
  options: StatementOptions,
): Promise<QueryResult<Row>> {
  return db.executeQuery(withOptions(query.compile(db), options));
}

export function withOptions<Row>(
  query: CompiledQuery<Row>,
  options: StatementOptions,
): QueryWithOptions<Row> {
  return { ...query, options };
}

/** SQL text that several statements share. */
export interface Fragment {
  readonly fragment: string;
}

/**
 * Compiles a statement once, with named parameters. For frequent commands, since building a query costs more than running it.
 *
 * @example
 * const balance = statement<{ id: number }, { remain_quota: number }>()`
 *   select remain_quota from tokens where id = ${'id'}`;
 * const { rows } = await balance(trx, { id: 1 });
 */
export function statement<Params extends Record<string, SqlValue>, Row = unknown>() {
  return (parts: TemplateStringsArray, ...values: ((keyof Params & string) | Fragment)[]) => {
    const names = values.filter((value) => typeof value === 'string');
    const textWith = (placeholder: (number: number) => string) => {
      let number = 0;
      const texts = values.map((value) =>
        typeof value === 'string' ? placeholder((number += 1)) : value.fragment,
      );
      return String.raw({ raw: parts }, ...texts);
    };
    const sqlite = textWith(() => '?');
    const postgres = textWith((number) => `$${number}`);
    return (db: Db, params: Params): Promise<QueryResult<Row>> => {
      const text = isPostgres(db) ? postgres : sqlite;
      const parameters = names.map((name) => params[name]);
      return db.executeQuery<Row>(CompiledQuery.raw(text, parameters));
    };
  };
}

/** Returns the number of rows that a statement without `returning` inserts, updates or deletes. */
export async function countAffected(db: Db, query: Compilable): Promise<number> {
  const { numAffectedRows = 0n } = await db.executeQuery(query.compile(db));
  return Number(numAffectedRows);
}

/** Runs a statement without `returning`, and returns whether it inserted, updated or deleted a row. */
export async function affectsRow(db: Db, query: Compilable): Promise<boolean> {
  return (await countAffected(db, query)) > 0;
}

/** Returns the number of rows that a query finds. */
export async function countRows<Tables, Table extends keyof Tables>(
  query: SelectQueryBuilder<Tables, Table, object>,
): Promise<number> {
  const counted = query.select(sql<number>`count(*)`.as('total'));
  const { total } = (await counted.executeTakeFirstOrThrow()) as { total: number };
  return total;
}

/** Conditions that columns have some values. `undefined` adds no condition. */
export function equalities(values: Readonly<Record<string, SqlValue | undefined>>): RawBuilder<SqlBool>[] {
  return Object.entries(values).flatMap(([column, value]) =>
    value === undefined ? [] : sql<SqlBool>`${sql.ref(column)} = ${value}`,
  );
}

/** Condition that all of some conditions hold. */
export function allOf(conditions: readonly RawBuilder<SqlBool>[]): RawBuilder<SqlBool> {
  return conditions.length === 0 ? sql<SqlBool>`1 = 1` : sql<SqlBool>`(${sql.join(conditions, sql` and `)})`;
}

export function isPostgres(db: Db): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
