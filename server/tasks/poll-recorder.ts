import type { TaskPoll } from '../store/commands/task-polls.ts';
import { persist, type Store } from '../store/store.ts';

interface Waiting {
  poll: TaskPoll;
  resolve: (written: boolean) => void;
  reject: (error: unknown) => void;
}

/** More than this wait for the next write, so that one transaction stays short. */
const maxBatch = 200;

/** Writes what polls found, all that came during one write with the next: the busier, the fewer writes a poll. */
export class PollRecorder {
  readonly #store: Store;
  #waiting: Waiting[] = [];
  #writing = false;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Resolves after the commit; false when the claim was not the latest any more. */
  add(poll: TaskPoll): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ poll, resolve, reject });
      if (!this.#writing) void this.#write();
    });
  }

  async #write(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, maxBatch);
      try {
        const written = await persist(
          this.#store,
          'recordPolls',
          batch.map(({ poll }) => poll),
        );
        for (const [index, { resolve }] of batch.entries()) resolve(written[index] ?? false);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#writing = false;
  }
}
