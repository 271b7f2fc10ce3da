/** A batch of changes that this or another gateway committed. */
export interface ChangeSet {
  /** Ids of keys whose rights or limits changed. Their leases may be recalled, too. */
  keyIds: ReadonlySet<number>;
  /** Ids of users whose keys may have changed. */
  userIds: ReadonlySet<number>;
  /** Ids of keys whose quota leases are recalled. */
  recalledKeyIds: ReadonlySet<number>;
  /** True if the batch was too large to list: treat every key as changed. */
  overflow: boolean;
}

/** Delivers changes committed by other gateways (PostgreSQL LISTEN/NOTIFY). */
export interface ChangeFeed {
  /** Increments on every reconnect. Undefined while changes can be missed or unread. */
  readonly epoch: number | undefined;
  /** Counts the pauses of this process that were long enough for changes to queue up unread. */
  readonly pauses: number;
  /** True after a pause, until every change that was announced during it has been delivered. */
  readonly isBehind: boolean;
  /** Registers a listener. Returns a function that removes it. */
  subscribe(listener: (changes: ChangeSet) => void): () => void;
}

/** How long a cached value is fresh: until `until`, and only within the epoch in which it was read. */
export interface CacheValidity {
  epoch: number;
  /** By the monotonic clock, in milliseconds. */
  until: number;
}

/** Validity of a value that is read from now on. Undefined while the feed can miss changes. */
export function validityUntil(feed: ChangeFeed | undefined, until: number): CacheValidity | undefined {
  const epoch = feed?.epoch;
  return epoch === undefined ? undefined : { epoch, until };
}

/** Whether a read that began after `pauses` pauses includes every change that is still unread. */
export function isAfterPause(pauses: number, feed: ChangeFeed | undefined): boolean {
  return feed === undefined || !feed.isBehind || feed.pauses === pauses;
}

/** Whether a cached value is fresh, unless the feed reported a change of it. */
export function isFresh(
  validity: CacheValidity | undefined,
  feed: ChangeFeed | undefined,
  now: number,
): boolean {
  return validity !== undefined && now < validity.until && validity.epoch === feed?.epoch;
}

/** Largest number of listed ids of a kind in a change set. */
const maxListed = 1_000;

const noChanges = () => ({
  keyIds: new Set<number>(),
  userIds: new Set<number>(),
  recalledKeyIds: new Set<number>(),
  overflow: false,
});

/** Combines notifications into change sets, so that many changes cause few of them. */
export class ChangeCollector {
  #changes = noChanges();

  /** Adds a notification of the database's triggers. Returns whether it was one. */
  add(payload: string): boolean {
    const [kind = '', number = ''] = payload.split(' ');
    const id = Number(number);
    const changes = this.#changes;
    const sets: Readonly<Record<string, Set<number>>> = {
      token: changes.keyIds,
      user: changes.userIds,
      lease: changes.recalledKeyIds,
    };
    const set = sets[kind];
    if (set === undefined || !Number.isSafeInteger(id)) return false;
    if (!changes.overflow) set.add(id);
    if (set.size > maxListed) {
      changes.overflow = true;
      for (const one of Object.values(sets)) one.clear();
    }
    return true;
  }

  /** Returns the changes since the last call. */
  flush(): ChangeSet {
    const changes = this.#changes;
    this.#changes = noChanges();
    return changes;
  }
}
