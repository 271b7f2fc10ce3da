import { yieldToEventLoop } from '../lib/timers.ts';
import { runWithoutContext } from '../telemetry/telemetry-context.ts';
import { StoreUnavailable } from './availability.ts';

/** After a batch of this many items, the next one waits for more: a commit costs as much as several items. */
const busyBatch = 6;
/** Milliseconds. */
const gatherMs = 1;

interface Waiting<Item, Result> {
  item: Item;
  written: PromiseWithResolvers<Result>;
}

/** Writes items in batches, one batch after the other. Items that arrive during a write form the next batch. */
export class Batcher<Item, Result extends NonNullable<unknown> | null> {
  readonly #write: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #maxBatch: number;
  #waiting: Waiting<Item, Result>[] = [];
  #running: Promise<void> | undefined;

  /**
   * `write` writes all items or none, and returns a result for each. When it fails, unless with `StoreUnavailable`, each item is
   * written alone, so that a faulty item rejects no other.
   */
  constructor(write: (items: readonly Item[]) => Promise<readonly Result[]>, maxBatch: number) {
    this.#write = write;
    this.#maxBatch = maxBatch;
  }

  /** Resolves after the commit. When it rejects, the item is not written. */
  add(item: Item): Promise<Result> {
    const written = Promise.withResolvers<Result>();
    this.#waiting.push({ item, written });
    this.#running ??= runWithoutContext(() => this.#run());
    return written.promise;
  }

  /** Resolves when every item is written or rejected. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    await yieldToEventLoop();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#maxBatch);
      await this.#writeBatch(batch);
      // The callers continue first, since they may have more to write.
      if (batch.length < busyBatch) await yieldToEventLoop();
      else await new Promise((resolve) => setTimeout(resolve, gatherMs));
    }
    this.#running = undefined;
  }

  /** Never rejects. */
  async #writeBatch(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#write(batch.map(({ item }) => item));
      for (const [index, { written }] of batch.entries()) {
        const result = results[index];
        if (result === undefined) written.reject(new Error('the write returned no result'));
        else written.resolve(result);
      }
    } catch (error) {
      if (batch.length > 1 && !(error instanceof StoreUnavailable))
        for (const one of batch) await this.#writeBatch([one]);
      else for (const { written } of batch) written.reject(error);
    }
  }
}
