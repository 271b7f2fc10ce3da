import type { Caller } from '../keys/caller.ts';
import { Failure } from '../lib/failure.ts';
import type { UsageBound } from '../models/usage.ts';
import { type CallOutcome, type MeteredCall, Metering, type MeteringParts, type Usage } from './metering.ts';

/** A call during which its key may change. */
export interface TextCall extends Omit<MeteredCall, 'caller' | 'expectedUnits' | 'maxOutputTokens'> {
  key: { readonly caller: Caller };
}

/** Units reserved at a time, so that not every chunk of text needs a write. */
const step = 500;

/** Reserves quota for a text that arrives in chunks. The reservation grows with the text and ends once with `close`. */
export class TextReservation {
  readonly #parts: MeteringParts;
  readonly #call: TextCall;
  #metering: Metering | undefined;
  #covered = 0;
  #closed = false;
  #refusal: Failure | undefined;
  /** Completes after all earlier tasks, so that `close` cannot overtake a running reservation. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: MeteringParts, call: TextCall) {
    this.#parts = parts;
    this.#call = call;
  }

  /** Why the quota did not cover the last units that were refused. */
  get refusal(): Failure | undefined {
    return this.#refusal;
  }

  /** Reserves quota for a usage in total. Returns false when the key's quota does not cover it or the call is closed. */
  cover({ units, ...outputBound }: UsageBound): Promise<boolean> {
    return this.#enqueue(async () => {
      if (this.#closed) return false;
      // Reserve a whole step if the quota covers it, or else the exact amount.
      const rounded = units <= this.#covered ? this.#covered : Math.ceil(units / step) * step;
      for (const amount of rounded === units ? [units] : [rounded, units]) {
        if (!(await this.#reserve({ units: amount, ...outputBound }))) continue;
        this.#covered = Math.max(this.#covered, amount);
        return true;
      }
      return false;
    });
  }

  /**
   * Charges the usage, or refunds the reservation when nothing was used. `bound` is the upper bound of the text.
   * Resolves when the settlement is on disk, with the charged quota. Undefined: nothing was charged.
   */
  close(usage: Usage | undefined, outcome: CallOutcome, bound: UsageBound): Promise<number | undefined> {
    return this.#enqueue(async () => {
      this.#closed = true;
      if (usage !== undefined && usage.units > 0) return this.#metering?.charge(usage, outcome, bound);
      if (outcome.errorCode !== undefined)
        await this.#metering?.refund({ ...outcome, errorCode: outcome.errorCode });
      else await this.#metering?.refund({ state: 'completed', ...outcome, errorCode: 'nothing_used' });
      return undefined;
    });
  }

  async #reserve(bound: UsageBound): Promise<boolean> {
    const { key, ...call } = this.#call;
    const { caller } = key;
    try {
      if (this.#metering !== undefined) return await this.#metering.cover(bound, caller);
      const { units: expectedUnits, ...outputBound } = bound;
      this.#metering = await Metering.open(this.#parts, { ...call, caller, expectedUnits, ...outputBound });
      return true;
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'insufficient_user_quota') throw error;
      this.#refusal = error;
      return false;
    }
  }

  #enqueue<T>(task: () => Promise<T>): Promise<T> {
    const done = this.#last.then(task);
    this.#last = done.catch(() => {});
    return done;
  }
}
