import type { Records, Storage } from './storage.ts';
import { stampedId } from './tasks/task-board.ts';

/** The asset groups of verified persons. */
export class VerifiedGroups {
  readonly #records: Records<{ createdAt: number }>;

  constructor(storage: Storage) {
    this.#records = storage.records('verified group');
  }

  /** Makes one and gives its id; `createdAt` in milliseconds since the epoch. */
  add(createdAt: number): string {
    const id = stampedId('group', createdAt);
    this.#records.put(id, { createdAt });
    return id;
  }

  has(id: string): boolean {
    return this.#records.get(id) !== undefined;
  }
}
