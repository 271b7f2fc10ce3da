import { StoreUnavailable, untilTaken } from '../store/availability.ts';
import type { BookedCall } from '../store/commands/booked-calls.ts';
import type { Settlement } from '../store/commands/ledger.ts';
import type { Store } from '../store/store.ts';
import { forAll } from '../telemetry/work.ts';

/** What became of a call's settlement. */
export interface Booked {
  /** null: it was written down before. */
  settlement: Settlement | null;
  /** Its lease is not there any more. */
  leaseGone: boolean;
}

interface Waiting {
  call: BookedCall;
  written: PromiseWithResolvers<Booked>;
  /** Another one where nobody waits for a store that is away. */
  told: PromiseWithResolvers<Booked>;
}

/** Calls that are written down at a time. */
const mostCalls = 500;
/** From so many on, the next ones wait for more: a commit costs as much as several calls. */
const busyBatch = 6;
/** Milliseconds. */
const gather = 1;

/** Writes down calls that are over, in batches, one after the other: what comes meanwhile is the next one. */
export class Settlements {
  readonly #store: Pick<Store, 'run' | 'over'>;
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;
  #refusal: StoreUnavailable | undefined;

  constructor(store: Pick<Store, 'run' | 'over'>) {
    this.#store = store;
  }

  /**
   * `written` resolves when the call is on disk; it waits for a store that is away. `told` is the same, but where it is
   * `hasty` it resolves as soon as the store is found away.
   */
  book(call: BookedCall, hasty = false): { written: Promise<Booked>; told: Promise<Booked> } {
    const written = Promise.withResolvers<Booked>();
    const told = hasty ? Promise.withResolvers<Booked>() : written;
    if (hasty) written.promise.then(told.resolve, told.reject);
    this.#waiting.push({ call, written, told });
    this.#running ??= forAll(() => this.#run());
    return { written: written.promise, told: told.promise };
  }

  /** Why what waits is not taken, while the store is asked for it again and again: its disk is full, say. */
  get refusal(): StoreUnavailable | undefined {
    return this.#refusal;
  }

  /** Resolves when everything is written down that was given. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    await turn();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, mostCalls);
      await this.#write(batch);
      if (batch.length < busyBatch) await turn();
      else await pause(gather);
    }
    this.#running = undefined;
  }

  /** Never rejects: everybody is told. */
  async #write(batch: readonly Waiting[]): Promise<void> {
    try {
      const calls = batch.map(({ call }) => call);
      const { settlements, gone } = await untilTaken(this.#store.over, () => this.#try(batch, calls));
      const lost = new Set(gone);
      for (const [index, { call, written }] of batch.entries())
        written.resolve({
          settlement: settlements[index] ?? null,
          leaseGone: call.lease !== null && lost.has(call.lease),
        });
    } catch (error) {
      if (batch.length === 1 || error instanceof StoreUnavailable) {
        for (const { written } of batch) written.reject(error);
        return;
      }
      // One of them is at fault, and takes no other along.
      for (const one of batch) await this.#write([one]);
    } finally {
      // Nothing of it waits any more, whatever became of it.
      this.#refusal = undefined;
    }
  }

  async #try(batch: readonly Waiting[], calls: readonly BookedCall[]) {
    try {
      return await this.#store.run('bookCalls', { calls });
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      this.#refusal = error;
      for (const { call, written, told } of batch)
        if (told !== written)
          told.resolve({ settlement: { charged: call.charged, debt: 0 }, leaseGone: false });
      throw error;
    }
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
