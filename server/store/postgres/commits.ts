import { randomUUID } from 'node:crypto';
import { CompiledQuery, sql } from 'kysely';
import type { Db } from '../schema.ts';
import { withOptions } from '../statement.ts';

const note = `
  insert into commits (store, slot, number) values ($1, $2, $3)
  on conflict (store, slot) do update set number = excluded.number, made_at = now()`;

/** A commit whose outcome can be queried. */
export interface Commit {
  readonly slot: number;
  readonly number: number;
  /** The first statement of its transaction. */
  readonly note: CompiledQuery;
}

/** Records the number of each commit in a row, its slot, to find out its outcome when its acknowledgment is lost. */
export class Commits {
  /** Unique for each opened store. */
  readonly #store = randomUUID();
  readonly #free: number[] = [];
  #slots = 0;
  #number = 0;

  /** Acquires a slot, until `release`. */
  next(): Commit {
    this.#number += 1;
    const slot = this.#free.pop() ?? this.#slots;
    this.#slots = Math.max(this.#slots, slot + 1);
    return {
      slot,
      number: this.#number,
      note: withOptions(CompiledQuery.raw(note, [this.#store, slot, this.#number]), { prepared: true }),
    };
  }

  /** Call it only when the transaction has certainly ended. */
  release({ slot }: Commit): void {
    this.#free.push(slot);
  }

  /** Waits until the server has ended the transaction, and releases its slot. Returns whether it was committed. */
  async isCommitted(db: Db, commit: Commit): Promise<boolean> {
    const { rows } = await sql<{ number: number }>`
      insert into commits (store, slot, number) values (${this.#store}, ${commit.slot}, 0)
      on conflict (store, slot) do update set made_at = now()
      returning number`.execute(db);
    this.release(commit);
    return rows[0]?.number === commit.number;
  }

  /** Deletes the rows of this store, and those of stores that were not closed. */
  async deleteAll(db: Db): Promise<void> {
    await sql`
      delete from commits where store = ${this.#store} or made_at < now() - interval '1 day'`.execute(db);
  }
}
