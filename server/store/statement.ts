import { CompiledQuery, type Kysely, PostgresAdapter, type QueryResult, type RawBuilder, sql } from 'kysely';
import type { Database } from './schema.ts';

export type SqlValue = string | number | null;

export type Statement<Params, Row> = (db: Kysely<Database>, params: Params) => Promise<QueryResult<Row>>;

/** Text that several statements have. */
export interface Fragment {
  readonly fragment: string;
}

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

/** In a statement that is not waited for. */
export const unwaitedMark = '/* unwaited */';

/**
 * In a statement of which a command wants nothing but that it has not failed, and so has no `returning`: on PostgreSQL the next one or the
 * commit is sent right behind it, and tells its failure. Its values are plain, so it fails nowhere but on the server, which commits
 * nothing after that.
 *
 * @example
 * sql`update tokens set name = ${name} where id = ${id} ${unwaited} ${kept}`
 */
export const unwaited: RawBuilder<unknown> = sql.raw(unwaitedMark);

/**
 * A statement whose text is made once, for the hot commands: building and compiling a query costs more
 * than running it. Values are named by their parameter; what is text already stands there as it is.
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
    const written = (place: (number: number) => string) => {
      let number = 0;
      const texts = inserts.map((insert) =>
        typeof insert === 'string' ? place((number += 1)) : insert.fragment,
      );
      return String.raw({ raw: parts }, ...texts);
    };
    const sqlite = written(() => '?');
    const postgres = written((number) => `$${number}`);
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
