import { CompiledQuery, type Kysely, sql } from 'kysely';
import pg from 'pg';
import type { Database } from '../schema.ts';
import { StoreUnavailable, untilTaken } from '../unavailable.ts';
import { Conflict, ConnectionLost } from './session-pool.ts';

/** Tries of a transaction that another one or a broken connection undid. */
const attempts = 3;

/** The server numbers the transaction at once, so that it can be asked later what became of it. */
const begin = CompiledQuery.raw(
  'begin isolation level read committed; select pg_current_xact_id()::text as id',
);
const commit = CompiledQuery.raw('commit');
const rollback = CompiledQuery.raw('rollback');

/** A parameter that the server has no such transaction for: it was restored from before. */
const unknownTransaction = '22023';

/** The connection broke in mid-commit. */
class OutcomeUnknown<T> extends Error {
  readonly id: string;
  readonly result: T;

  constructor(id: string, result: T) {
    super('the outcome of a commit is unknown');
    this.id = id;
    this.result = result;
  }
}

/**
 * Runs `work` in a transaction, and again when it was undone. When it resolves, it is committed, once; when it
 * rejects, nothing is written, except that `over` was aborted in mid-commit.
 *
 * @throws StoreUnavailable when the database is away or too busy, else the error of `work`.
 */
export async function inTransaction<T>(
  db: Kysely<Database>,
  over: AbortSignal,
  work: (trx: Kysely<Database>) => Promise<T>,
): Promise<T> {
  for (let left = attempts - 1; ; left -= 1) {
    try {
      return await db.connection().execute((connection) => once(connection, work));
    } catch (error) {
      if (error instanceof OutcomeUnknown) {
        if (await wasCommitted(db, over, error.id)) return error.result as T;
      } else if (!(error instanceof ConnectionLost || error instanceof Conflict)) throw error;
      if (left === 0) throw error instanceof StoreUnavailable ? error : new StoreUnavailable(error);
    }
  }
}

async function once<T>(
  connection: Kysely<Database>,
  work: (trx: Kysely<Database>) => Promise<T>,
): Promise<T> {
  const { rows } = await connection.executeQuery<{ id: string }>(begin);
  let result: T;
  try {
    result = await work(connection);
  } catch (error) {
    // Where it fails, the connection is thrown away, and the server undoes what it had begun.
    if (!(error instanceof ConnectionLost)) await connection.executeQuery(rollback).catch(() => {});
    throw error;
  }
  try {
    const ended = await connection.executeQuery<{ command: string }>(commit);
    if (ended.rows[0]?.command === 'ROLLBACK') throw new Error('a command went on after an error of its own');
    return result;
  } catch (error) {
    throw error instanceof ConnectionLost ? new OutcomeUnknown(rows[0]?.id ?? '', result) : error;
  }
}

/** Asks until the server answers and the transaction is over. */
function wasCommitted(db: Kysely<Database>, over: AbortSignal, id: string): Promise<boolean> {
  return untilTaken(over, async () => {
    const status = await statusOf(db, id);
    if (status === 'in progress') throw new StoreUnavailable(new Error('a commit is still under way'));
    return status === 'committed';
  });
}

async function statusOf(db: Kysely<Database>, id: string): Promise<string | null | undefined> {
  try {
    const { rows } = await sql<{
      status: string | null;
    }>`select pg_xact_status(${id}::xid8) as status`.execute(db);
    return rows[0]?.status;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === unknownTransaction) return undefined;
    throw error;
  }
}
