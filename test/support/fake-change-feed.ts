import type { ChangeFeed, ChangeSet } from '../../server/store/change-feed.ts';

/** A change feed whose events a test controls. */
export class FakeChangeFeed implements ChangeFeed {
  epoch: number | undefined = 1;
  pauses = 0;
  isBehind = false;
  #listener: (changes: ChangeSet) => void = () => {};

  subscribe(listener: (changes: ChangeSet) => void): () => void {
    this.#listener = listener;
    return () => {};
  }

  /** Pauses the process, after which changes may be unread. */
  pause(): void {
    this.pauses += 1;
    this.isBehind = true;
  }

  /** Delivers all changes that were announced during the pause. */
  catchUp(): void {
    this.isBehind = false;
  }

  announce(changes: Partial<ChangeSet>): void {
    const none = new Set<number>();
    this.#listener({ keyIds: none, userIds: none, recalledKeyIds: none, overflow: false, ...changes });
  }
}
