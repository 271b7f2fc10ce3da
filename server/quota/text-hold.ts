import type { Caller } from '../keys/caller.ts';
import { Failure } from '../lib/failure.ts';
import { type Books, type CallOutcome, type MeteredCall, Metering, type Usage } from './metering.ts';

/** A call whose key may be changed while it lasts. */
export interface TextCall extends Omit<MeteredCall, 'caller' | 'expectedUnits'> {
  key: { readonly caller: Caller };
}

/** Held at a time, in units: word by word, every bit of text would cost a write. */
const step = 500;

/**
 * The books of a text that comes bit by bit. Nothing is held before the first bit; then the hold grows with the
 * text. It ends by `close`, once.
 */
export class TextHold {
  readonly #books: Books;
  readonly #call: TextCall;
  #metering: Metering | undefined;
  #covered = 0;
  #closed = false;
  /** Ends when all that was asked before has been done: a hold must not be opened after `close`. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(books: Books, call: TextCall) {
    this.#books = books;
    this.#call = call;
  }

  /** Holds enough for `units` in all. False when the key's quota does not cover them, or the books are closed. */
  cover(units: number): Promise<boolean> {
    return this.#inTurn(async () => {
      if (this.#closed) return false;
      // Far from the edge a whole step is taken; near the end of the quota, exactly what is needed.
      const rounded = units <= this.#covered ? this.#covered : Math.ceil(units / step) * step;
      for (const amount of rounded === units ? [units] : [rounded, units]) {
        if (!(await this.#hold(amount))) continue;
        this.#covered = Math.max(this.#covered, amount);
        return true;
      }
      return false;
    });
  }

  /**
   * Charges the usage, or returns the whole reservation when nothing was used. `bound` is the upper bound of the units
   * of the text. Resolves when the settlement is on disk.
   */
  close(usage: Usage | undefined, outcome: CallOutcome, bound: number): Promise<void> {
    return this.#inTurn(async () => {
      this.#closed = true;
      if (usage !== undefined && usage.units > 0) await this.#metering?.charge(usage, outcome, bound);
      else if (outcome.errorCode !== undefined)
        await this.#metering?.refund({ ...outcome, errorCode: outcome.errorCode });
      else await this.#metering?.refund({ state: 'completed', ...outcome, errorCode: 'nothing_used' });
    });
  }

  async #hold(units: number): Promise<boolean> {
    const { key, ...call } = this.#call;
    const { caller } = key;
    if (this.#metering !== undefined) return this.#metering.cover(units, caller);
    try {
      this.#metering = await Metering.open(this.#books, { ...call, caller, expectedUnits: units });
      return true;
    } catch (error) {
      if (error instanceof Failure && error.code === 'insufficient_user_quota') return false;
      throw error;
    }
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const done = this.#last.then(task);
    this.#last = done.catch(() => {});
    return done;
  }
}
