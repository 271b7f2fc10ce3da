import { randomUUID } from 'node:crypto';
import { CompiledQuery, type Kysely, sql } from 'kysely';
import type { Database } from '../schema.ts';
import { withOptions } from '../statement.ts';

const note = `
  insert into commits (store, slot, number) values ($1, $2, $3)
  on conflict (store, slot) do update set number = excluded.number, made_at = now()`;

/** A commit that can be asked for when nobody has acknowledged it. */
export interface Commit {
  readonly slot: number;
  readonly number: number;
  /** The statement that its transaction begins with. */
  readonly note: CompiledQuery;
}

/**
 * Knows of every commit whether it was made. Each leaves its number in a row, a slot, which its transaction holds from
 * its beginning to its end and no other one uses meanwhile. The server's own transaction ids would not do: after a
 * crash it gives those out anew that it had not written down yet.
 */
export class Commits {
  /** A store that is opened is another one each time. */
  readonly #store = randomUUID();
  readonly #free: number[] = [];
  #slots = 0;
  #number = 0;

  /** Takes a slot, until `release`. */
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

  /** To call when it is certain that the transaction is over. */
  release({ slot }: Commit): void {
    this.#free.push(slot);
  }

  /** Waits until the transaction is over, if it still is under way on the server, and releases its slot. */
  async wasMade(db: Kysely<Database>, commit: Commit): Promise<boolean> {
    const { rows } = await sql<{ number: number }>`
      insert into commits (store, slot, number) values (${this.#store}, ${commit.slot}, 0)
      on conflict (store, slot) do update set made_at = now()
      returning number`.execute(db);
    this.release(commit);
    return rows[0]?.number === commit.number;
  }

  /** Forgets what nobody will ask for any more: its own, and what vanished gateways left. */
  async forget(db: Kysely<Database>): Promise<void> {
    await sql`
      delete from commits where store = ${this.#store} or made_at < now() - interval '1 day'`.execute(db);
  }
}
