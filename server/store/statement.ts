import {
  CompiledQuery,
  type Kysely,
  PostgresAdapter,
  type QueryExecutorProvider,
  type QueryResult,
} from 'kysely';
import type { Database } from './schema.ts';

export type SqlValue = string | number | null;

/** How PostgreSQL runs a statement. SQLite ignores these options. */
export interface StatementOptions {
  /**
   * Plans the statement once for each connection: planning costs about a third of running it. Only for statements whose text and
   * best plan never change, such as inserts, and keys and leases by id. A plan for an empty table of tasks would scan it later.
   */
  readonly prepared?: boolean;
  /**
   * Sends the next statement without waiting for this one, whose failure the next one reports. Only for statements without
   * `returning` that can fail on the server only. The server commits nothing after a failure.
   */
  readonly pipelined?: boolean;
}

/** A compiled query with options. Kysely passes it to the driver as it is. */
export type QueryWithOptions<Row = unknown> = CompiledQuery<Row> & { readonly options?: StatementOptions };

/**
 * Runs a query with options.
 *
 * @example
 * const { rows } = await execute<{ id: number }>(db, sql`update tokens …`, { prepared: true });
 */
export function execute<Row>(
  db: Kysely<Database>,
  query: { compile(provider: QueryExecutorProvider): CompiledQuery<Row> },
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

/** Runs a statement whose text is compiled once. */
export type Statement<Params, Row> = (db: Kysely<Database>, params: Params) => Promise<QueryResult<Row>>;

/** SQL text that several statements share. */
export interface Fragment {
  readonly fragment: string;
}

/**
 * A statement whose text is compiled once, for frequent commands: to build and compile a query costs more than to run it.
 * Parameters are given by name.
 *
 * @example
 * const balance = statement<{ id: number }, { remain_quota: number }>()`
 *   select remain_quota from tokens where id = ${'id'}`;
 * const { rows } = await balance(trx, { id: 1 });
 */
export function statement<Params extends Record<string, SqlValue>, Row = unknown>() {
  return (
    parts: TemplateStringsArray,
    ...inserts: ((keyof Params & string) | Fragment)[]
  ): Statement<Params, Row> => {
    const names = inserts.filter((insert) => typeof insert === 'string');
    const textWith = (placeholder: (number: number) => string) => {
      let number = 0;
      const texts = inserts.map((insert) =>
        typeof insert === 'string' ? placeholder((number += 1)) : insert.fragment,
      );
      return String.raw({ raw: parts }, ...texts);
    };
    const sqlite = textWith(() => '?');
    const postgres = textWith((number) => `$${number}`);
    return (db, params) => {
      const text = isPostgres(db) ? postgres : sqlite;
      const values = names.map((name) => params[name]);
      return db.executeQuery<Row>(CompiledQuery.raw(text, values));
    };
  };
}

export function isPostgres(db: Kysely<Database>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
