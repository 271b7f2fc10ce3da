import { CompiledQuery, type Kysely, PostgresAdapter, type QueryResult, type RawBuilder, sql } from 'kysely';
import type { Database } from './schema.ts';

export type SqlValue = string | number | null;

export type Statement<Params, Row> = (db: Kysely<Database>, params: Params) => Promise<QueryResult<Row>>;

/** What a statement ends with whose plan PostgreSQL keeps on each connection. */
export const keptPlan = '/* kept */';

/**
 * The end of a statement that is planned once for a connection, which costs as much as a third of running it. Only where its text is
 * always the same, and where the best plan is, too: a plan that was made for an empty table reads the whole of it later.
 * That is so of new rows, and of keys and leases by their id; not of tasks, the ledger and the log, which grow with the calls.
 *
 * @example
 * sql`update tokens set name = ${name} where id = ${id} ${kept}`
 */
export const kept: RawBuilder<unknown> = sql.raw(keptPlan);

/**
 * A statement whose text is made once, for the hot commands: building and compiling a query costs more
 * than running it. Values are named by their parameter.
 *
 * @example
 * const balance = statement<{ id: number }, { remain_quota: number }>()`
 *   select remain_quota from tokens where id = ${'id'}`;
 * const { rows } = await balance(trx, { id: 1 });
 */
export function statement<Params extends Record<string, SqlValue>, Row = unknown>() {
  return (parts: TemplateStringsArray, ...names: (keyof Params & string)[]): Statement<Params, Row> => {
    const sqlite = parts.join('?');
    const postgres = parts.reduce((text, part, index) => `${text}$${index}${part}`);
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
