import { CompiledQuery } from 'kysely';
import { retryWhileUnavailable, StoreUnavailable } from '../availability.ts';
import type { Db } from '../schema.ts';
import { withOptions } from '../statement.ts';
import type { Commit, Commits } from './commits.ts';
import { Conflict, ConnectionLost, commit, rollback } from './driver.ts';

/** Attempts of a transaction that a conflict or a broken connection interrupts. */
const maxAttempts = 3;

const begin = CompiledQuery.raw('begin isolation level read committed');
const pipelinedBegin = withOptions(begin, { pipelined: true });

/** The connection broke during a commit. */
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
 * Runs `work` in a transaction, again after a conflict or a broken connection. Resolves when it is committed, exactly once. When it
 * rejects, nothing is written, unless `signal` is aborted during a commit. Without `commits`, `work` runs again after a commit whose
 * outcome is unknown, so it must be idempotent.
 *
 * @throws StoreUnavailable when the database is unavailable or overloaded, else the error of `work`
 */
export async function inTransaction<T>(
  db: Db,
  commits: Commits | undefined,
  signal: AbortSignal,
  work: (trx: Db) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.connection().execute((connection) => runOnce(connection, commits, work));
    } catch (error) {
      if (error instanceof OutcomeUnknown) {
        const { commit: unknown, result } = error;
        if (commits !== undefined && unknown !== undefined) {
          if (await retryWhileUnavailable(signal, () => commits.isCommitted(db, unknown))) return result as T;
        }
      } else if (!(error instanceof ConnectionLost || error instanceof Conflict)) throw error;
      if (attempt === maxAttempts)
        throw error instanceof StoreUnavailable ? error : new StoreUnavailable(error, 'DATABASE_URL');
    }
  }
}

async function runOnce<T>(
  connection: Db,
  commits: Commits | undefined,
  work: (trx: Db) => Promise<T>,
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
    // The server rolls the transaction back at an unknown time, so its slot cannot be used again.
    if (error instanceof ConnectionLost || error instanceof OutcomeUnknown) throw error;
    // If the rollback fails, the driver discards the connection.
    await connection.executeQuery(rollback).catch(() => {});
    if (planned !== undefined) commits?.release(planned);
    throw error;
  }
}
