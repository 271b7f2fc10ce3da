import { CompiledQuery, type Kysely } from 'kysely';
import { retryWhileUnavailable, StoreUnavailable } from '../availability.ts';
import type { Database } from '../schema.ts';
import { withOptions } from '../statement.ts';
import type { Commit, Commits } from './commits.ts';
import { Conflict, ConnectionLost, commit, rollback } from './driver.ts';

/** Tries of a transaction that another one or a broken connection undid. */
const attempts = 3;

const begin = CompiledQuery.raw('begin isolation level read committed');
const pipelinedBegin = withOptions(begin, { pipelined: true });

/** The connection broke in mid-commit. */
class OutcomeUnknown<T> extends Error {
  readonly commit: Commit | undefined;
  readonly result: T;

  constructor(commit: Commit | undefined, result: T) {
    super('the outcome of a commit is unknown');
    this.commit = commit;
    this.result = result;
  }
}

/**
 * Runs `work` in a transaction, and again when it was undone. When it resolves, it is committed, once; when it
 * rejects, nothing is written, except that `over` was aborted in mid-commit. Without `commits`, work whose commit
 * nobody acknowledged is done again, so doing it twice must be the same as doing it once.
 *
 * @throws StoreUnavailable when the database is away or too busy, else the error of `work`.
 */
export async function inTransaction<T>(
  db: Kysely<Database>,
  commits: Commits | undefined,
  over: AbortSignal,
  work: (trx: Kysely<Database>) => Promise<T>,
): Promise<T> {
  for (let left = attempts - 1; ; left -= 1) {
    try {
      return await db.connection().execute((connection) => once(connection, commits, work));
    } catch (error) {
      if (error instanceof OutcomeUnknown) {
        const { commit: unknown, result } = error;
        if (commits !== undefined && unknown !== undefined) {
          if (await retryWhileUnavailable(over, () => commits.wasMade(db, unknown))) return result as T;
        }
      } else if (!(error instanceof ConnectionLost || error instanceof Conflict)) throw error;
      if (left === 0) throw error instanceof StoreUnavailable ? error : new StoreUnavailable(error);
    }
  }
}

async function once<T>(
  connection: Kysely<Database>,
  commits: Commits | undefined,
  work: (trx: Kysely<Database>) => Promise<T>,
): Promise<T> {
  const planned = commits?.next();
  try {
    await connection.executeQuery(planned === undefined ? begin : pipelinedBegin);
    if (planned !== undefined) await connection.executeQuery(planned.note);
    const result = await work(connection);
    await connection.executeQuery(commit).catch((error: unknown) => {
      throw error instanceof ConnectionLost ? new OutcomeUnknown(planned, result) : error;
    });
    if (planned !== undefined) commits?.release(planned);
    return result;
  } catch (error) {
    // The server undoes what came over a lost connection, but nobody knows when: that slot is not used again.
    if (error instanceof ConnectionLost || error instanceof OutcomeUnknown) throw error;
    // Where this fails, the connection is thrown away.
    await connection.executeQuery(rollback).catch(() => {});
    if (planned !== undefined) commits?.release(planned);
    throw error;
  }
}
