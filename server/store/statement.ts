import { CompiledQuery, type Kysely, PostgresAdapter, type QueryResult } from 'kysely';
import type { Database } from './schema.ts';

export type SqlValue = string | number | null;

export type Statement<Params, Row> = (db: Kysely<Database>, params: Params) => Promise<QueryResult<Row>>;

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
