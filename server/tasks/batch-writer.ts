import { StoreUnavailable } from '../store/availability.ts';
import { forAll } from '../telemetry/work.ts';

interface Waiting<Item, Result> {
  item: Item;
  written: PromiseWithResolvers<Result>;
}

/** More than this wait for the next write, so that one transaction stays short. */
const maxBatch = 200;

/** Writes what comes one by one, all that came during one write with the next: the busier, the fewer writes for each. */
export class BatchWriter<Item, Result> {
  readonly #write: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #none: Result;
  #waiting: Waiting<Item, Result>[] = [];
  #writing = false;

  /** `write` writes all or nothing, and gives what became of each; `none` is meant where it gives nothing of one. */
  constructor(write: (items: readonly Item[]) => Promise<readonly Result[]>, none: Result) {
    this.#write = write;
    this.#none = none;
  }

  /** Resolves after the commit. When it rejects, nothing is written. */
  add(item: Item): Promise<Result> {
    const written = Promise.withResolvers<Result>();
    this.#waiting.push({ item, written });
    if (!this.#writing) void forAll(() => this.#run());
    return written.promise;
  }

  async #run(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) await this.#try(this.#waiting.splice(0, maxBatch));
    this.#writing = false;
  }

  /** Never rejects: everybody is told. */
  async #try(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#write(batch.map(({ item }) => item));
      for (const [index, { written }] of batch.entries()) written.resolve(results[index] ?? this.#none);
    } catch (error) {
      if (batch.length === 1 || error instanceof StoreUnavailable) {
        for (const { written } of batch) written.reject(error);
        return;
      }
      // One of them is at fault, and takes no other along.
      for (const one of batch) await this.#try([one]);
    }
  }
}
