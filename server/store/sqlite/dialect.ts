import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { SqliteDialect, type SqliteStatement } from 'kysely';
import { StoreUnavailable } from '../availability.ts';

const maxStatements = 500;

/** Kysely's dialect for a `node:sqlite` connection, with a cache of prepared statements. */
export function nodeSqliteDialect(connection: DatabaseSync): SqliteDialect {
  const prepared = new Map<string, SqliteStatement>();
  return new SqliteDialect({
    database: {
      prepare(text) {
        let statement = prepared.get(text);
        if (statement === undefined) {
          statement = prepare(connection, text);
          const [oldest] = prepared.keys();
          if (prepared.size >= maxStatements && oldest !== undefined) prepared.delete(oldest);
          prepared.set(text, statement);
        }
        return statement;
      },
      close: () => connection.close(),
    },
  });
}

function prepare(connection: DatabaseSync, text: string): SqliteStatement {
  const statement = connection.prepare(text);
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => mapErrors(() => statement.all(...(parameters as SQLInputValue[]))),
    run: (parameters) => mapErrors(() => statement.run(...(parameters as SQLInputValue[]))),
    // A separate statement, since another use of the cached one would reset the iteration.
    iterate: (parameters) => connection.prepare(text).iterate(...(parameters as SQLInputValue[])),
  };
}

/** Converts errors with `sqliteFailure`. */
function mapErrors<T>(use: () => T): T {
  try {
    return use();
  } catch (error) {
    throw sqliteFailure(error);
  }
}

/** Result codes BUSY, LOCKED, NOMEM, IOERR, FULL and CANTOPEN, after which a later attempt can succeed. */
const temporary = new Set([5, 6, 7, 10, 13, 14]);

/** Returns a `StoreUnavailable` for an error of the file or its disk, else the error itself. */
export function sqliteFailure(error: unknown): unknown {
  const { errcode } = error as { errcode?: unknown };
  // The lower byte of an extended result code is the primary one.
  return typeof errcode === 'number' && temporary.has(errcode & 0xff)
    ? new StoreUnavailable(error, 'DATA_DIR')
    : error;
}
