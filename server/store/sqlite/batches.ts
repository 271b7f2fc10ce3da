import type { DatabaseSync } from 'node:sqlite';
import type { Kysely } from 'kysely';
import { StoreUnavailable } from '../availability.ts';
import { commandNamed } from '../commands/registry.ts';
import type { Database } from '../schema.ts';
import { sqliteFailure } from './dialect.ts';
import { type CommandCall, type Outcome, packError } from './messages.ts';

/** Runs commands on the writing connection. */
export class Batches {
  readonly #connection: DatabaseSync;
  readonly #db: Kysely<Database>;
  readonly #begin;
  readonly #commit;
  readonly #savepoint;
  readonly #release;
  readonly #undo;

  /** `db` is Kysely over the connection. */
  constructor(connection: DatabaseSync, db: Kysely<Database>) {
    this.#connection = connection;
    this.#db = db;
    this.#begin = connection.prepare('begin immediate');
    this.#commit = connection.prepare('commit');
    this.#savepoint = connection.prepare('savepoint command');
    this.#release = connection.prepare('release command');
    this.#undo = connection.prepare('rollback to command');
  }

  /** Runs them in one transaction; one that fails takes no other along. */
  async run(batch: readonly CommandCall[]): Promise<Outcome[]> {
    try {
      // Nearly all go well, and a savepoint for each would cost as much as the half of its work.
      return (await this.#together(batch)) ?? (await this.#apart(batch));
    } catch (error) {
      // The transaction itself failed (a full disk, say): nothing of the batch is written, and all must know.
      if (this.#connection.isTransaction) this.#connection.exec('rollback');
      const carried = packError(sqliteFailure(error));
      return batch.map(({ id }) => ({ id, error: carried }));
    }
  }

  /** @throws StoreUnavailable when nothing can be written. */
  probe(): void {
    try {
      // A number in the file's head that nobody uses: it is written like any page, and changes nothing.
      this.#connection.exec('begin immediate; pragma user_version = 0; commit');
    } catch (error) {
      if (this.#connection.isTransaction) this.#connection.exec('rollback');
      throw new StoreUnavailable(error);
    }
  }

  /** Undefined: one of them failed, and nothing is written. */
  async #together(batch: readonly CommandCall[]): Promise<Outcome[] | undefined> {
    this.#begin.run();
    const outcomes: Outcome[] = [];
    try {
      for (const { id, name, args } of batch)
        outcomes.push({ id, result: await commandNamed(name)(this.#db, args) });
    } catch {
      if (this.#connection.isTransaction) this.#connection.exec('rollback');
      return undefined;
    }
    this.#commit.run();
    return outcomes;
  }

  /** Each in a savepoint of its own. */
  async #apart(batch: readonly CommandCall[]): Promise<Outcome[]> {
    this.#begin.run();
    const outcomes: Outcome[] = [];
    for (const { id, name, args } of batch) {
      this.#savepoint.run();
      try {
        outcomes.push({ id, result: await commandNamed(name)(this.#db, args) });
      } catch (error) {
        // A full disk may have undone the whole transaction already.
        if (!this.#connection.isTransaction) throw error;
        this.#undo.run();
        outcomes.push({ id, error: packError(sqliteFailure(error)) });
      }
      this.#release.run();
    }
    this.#commit.run();
    return outcomes;
  }
}
