import type { DatabaseSync } from 'node:sqlite';
import { StoreUnavailable } from '../availability.ts';
import { runCommand } from '../commands/registry.ts';
import type { Db } from '../schema.ts';
import { sqliteFailure } from './dialect.ts';
import { type CarriedError, type CommandCall, type Outcome, packError } from './messages.ts';

/** Runs commands on the writing connection. */
export class Batches {
  readonly #connection: DatabaseSync;
  readonly #db: Db;
  readonly #begin;
  readonly #commit;
  readonly #savepoint;
  readonly #release;
  readonly #undo;

  /** `db` runs on `connection`. */
  constructor(connection: DatabaseSync, db: Db) {
    this.#connection = connection;
    this.#db = db;
    this.#begin = connection.prepare('begin immediate');
    this.#commit = connection.prepare('commit');
    this.#savepoint = connection.prepare('savepoint command');
    this.#release = connection.prepare('release command');
    this.#undo = connection.prepare('rollback to command');
  }

  /** Runs commands in one transaction. A failed command undoes only its own changes. */
  async run(batch: readonly CommandCall[]): Promise<Outcome[]> {
    try {
      // Failures are rare, and a savepoint costs half as much as a command.
      return (await this.#runAll(batch, false)) ?? (await this.#runAll(batch, true)) ?? [];
    } catch (error) {
      // The transaction itself failed, for example on a full disk. Nothing of the batch is written.
      this.#rollback();
      const failed = { error: packError(sqliteFailure(error)) };
      return batch.map(() => failed);
    }
  }

  /** Checks whether the database is writable. Returns the error, if it is not. */
  probe(): CarriedError | null {
    try {
      // An unused number in the header of the file, which is written like any page.
      this.#connection.exec('begin immediate; pragma user_version = 0; commit');
      return null;
    } catch (error) {
      this.#rollback();
      return packError(new StoreUnavailable(error, 'DATA_DIR'));
    }
  }

  /** Runs commands in one transaction. Without savepoints, a failure of one rolls back all, and the result is undefined. */
  async #runAll(batch: readonly CommandCall[], hasSavepoints: boolean): Promise<Outcome[] | undefined> {
    this.#begin.run();
    const outcomes: Outcome[] = [];
    for (const { name, args } of batch) {
      if (hasSavepoints) this.#savepoint.run();
      try {
        outcomes.push({ result: await runCommand(this.#db, name, args) });
      } catch (error) {
        if (!hasSavepoints) {
          this.#rollback();
          return undefined;
        }
        // A full disk can roll back the complete transaction.
        if (!this.#connection.isTransaction) throw error;
        this.#undo.run();
        outcomes.push({ error: packError(sqliteFailure(error)) });
      }
      if (hasSavepoints) this.#release.run();
    }
    this.#commit.run();
    return outcomes;
  }

  #rollback(): void {
    if (this.#connection.isTransaction) this.#connection.exec('rollback');
  }
}
