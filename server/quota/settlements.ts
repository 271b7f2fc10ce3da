import { retryWhileUnavailable, StoreUnavailable } from '../store/availability.ts';
import { Batcher } from '../store/batcher.ts';
import type { BookedCall } from '../store/commands/booked-calls.ts';
import type { Settlement } from '../store/commands/ledger.ts';
import type { Store } from '../store/store.ts';

/** Outcome of a call's settlement. */
export interface Booked {
  /** null: it was written before. */
  settlement: Settlement | null;
  /** The lease of the call no longer exists. */
  leaseGone: boolean;
}

interface Item {
  call: BookedCall;
  onUnavailable: () => void;
}

const maxBatch = 500;

/** Settles finished calls in batches. */
export class Settlements {
  readonly #store: Pick<Store, 'run' | 'retrySignal'>;
  readonly #batcher = new Batcher<Item, Booked>((items) => this.#write(items), maxBatch);
  #refusal: StoreUnavailable | undefined;

  constructor(store: Pick<Store, 'run' | 'retrySignal'>) {
    this.#store = store;
  }

  /** Resolves when the call is on disk. While the store is unavailable, calls `onUnavailable` and waits. */
  book(call: BookedCall, onUnavailable: () => void = () => {}): Promise<Booked> {
    return this.#batcher.add({ call, onUnavailable });
  }

  /** Why the store refuses the waiting calls, such as a full disk. Undefined when none is being repeated. */
  get refusal(): StoreUnavailable | undefined {
    return this.#refusal;
  }

  /** Resolves when every call is written. */
  idle(): Promise<void> {
    return this.#batcher.idle();
  }

  async #write(items: readonly Item[]): Promise<Booked[]> {
    const calls = items.map(({ call }) => call);
    try {
      const { settlements, gone } = await retryWhileUnavailable(this.#store.retrySignal, () =>
        this.#attempt(items, calls),
      );
      const lost = new Set(gone);
      return calls.map(({ lease }, index) => ({
        settlement: settlements[index] ?? null,
        leaseGone: lease !== null && lost.has(lease),
      }));
    } finally {
      this.#refusal = undefined;
    }
  }

  async #attempt(items: readonly Item[], calls: readonly BookedCall[]) {
    try {
      return await this.#store.run('settleCalls', { calls });
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      this.#refusal = error;
      for (const { onUnavailable } of items) onUnavailable();
      throw error;
    }
  }
}
