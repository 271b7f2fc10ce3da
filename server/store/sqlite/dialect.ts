import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { SqliteDialect, type SqliteStatement } from 'kysely';
import { StoreUnavailable } from '../availability.ts';

const maxStatements = 500;

/** Kysely over a `node:sqlite` connection, which prepares each SQL text once and keeps the latest ones. */
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
    // A statement of its own: the shared one would be reset under a running iteration.
    iterate: (parameters) => connection.prepare(text).iterate(...(parameters as SQLInputValue[])),
  };
}

/** Tells a failure of the file or its disk from one of the statement. */
function mapErrors<T>(use: () => T): T {
  try {
    return use();
  } catch (error) {
    throw sqliteFailure(error);
  }
}

/** Busy, locked, out of memory, failing, full, not to be opened: it may work later. */
const passing = new Set([5, 6, 7, 10, 13, 14]);

/** The error as a `StoreUnavailable` when it is about the file or its disk, and not about the statement. */
export function sqliteFailure(error: unknown): unknown {
  const { errcode } = error as { errcode?: unknown };
  // The lower byte is the kind, the rest says more.
  return typeof errcode === 'number' && passing.has(errcode & 0xff) ? new StoreUnavailable(error) : error;
}
