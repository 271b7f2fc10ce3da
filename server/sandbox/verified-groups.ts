import type { Records, Storage } from './storage.ts';
import { createTimestampedId } from './tasks/task-board.ts';

/** The asset groups of verified people. */
export class VerifiedGroups {
  readonly #records: Records<{ createdAt: number }>;

  constructor(storage: Storage) {
    this.#records = storage.records('verified group');
  }

  /** Creates a group and returns its id. `createdAt` is in milliseconds since the epoch. */
  add(createdAt: number): string {
    const id = createTimestampedId('group', createdAt);
    this.#records.put(id, { createdAt });
    return id;
  }

  has(id: string): boolean {
    return this.#records.get(id) !== undefined;
  }
}
