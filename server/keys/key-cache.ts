import { LRUCache } from 'lru-cache';
import { Failure } from '../lib/failure.ts';
import type { Timers } from '../lib/timers.ts';
import { type AddressTest, addressTest } from '../settings/address-ranges.ts';
import { StoreUnavailable } from '../store/availability.ts';
import {
  type CacheValidity,
  type ChangeFeed,
  isAfterPause,
  isFresh,
  validityUntil,
} from '../store/change-feed.ts';
import { hashKey } from '../store/keys.ts';
import { earliest } from '../store/queries/lineage.ts';
import {
  findAllowances,
  findTokenByHash,
  hasAdminAccess,
  hasLimits,
  type TokenRecord,
} from '../store/queries/tokens.ts';
import type { Store } from '../store/store.ts';
import type { Caller } from './caller.ts';

export interface KeyCacheParts {
  store: Pick<Store, 'read'> & Partial<Pick<Store, 'changeFeed'>>;
  /** Epoch milliseconds. */
  clock: () => number;
  timers: Timers;
}

/** Time to live of a cached key without a change feed, in milliseconds. A revoked key stops working within it. */
const cacheTtlMs = 1_000;
/** Time to live of a cached key while the change feed is connected, in milliseconds. */
const feedTtlMs = 30_000;
/** Look-ups in a row for one key when the process is paused during each. */
const maxLookUps = 3;
const maxEntries = 10_000;

interface Entry {
  caller: Caller;
  /** Undefined: the key is valid from every address. */
  allows: AddressTest | undefined;
  /** End of the short time to live, by the monotonic clock. */
  freshUntil: number;
  /** Validity by the change feed. Undefined: a change may have been missed during the look-up. */
  feedValidity: CacheValidity | undefined;
  /** Pauses of the process before the look-up. */
  pauses: number;
  /** Expiry of the key, in epoch milliseconds. */
  expiresAt: number;
}

/** Returns the 401 for a key. The message is the same for every reason, so that it reveals nothing about a key. */
export function keyRefused(): Failure {
  const message = 'The API key is unknown, disabled, expired or not for use from this address.';
  return new Failure(401, 'invalid_api_key', message);
}

/** Authenticates API keys by their hash and caches recently used ones. */
export class KeyCache {
  readonly #parts: KeyCacheParts;
  readonly #entries: LRUCache<string, Entry>;
  /** Running look-ups. Other requests may share one until `shareUntil`. */
  readonly #lookUps = new Map<string, { entry: Promise<Entry>; shareUntil: number }>();
  /** Counts changes, so that a look-up detects one that arrived while it ran. */
  #changes = 0;

  constructor(parts: KeyCacheParts, maxSize: number = maxEntries) {
    this.#parts = parts;
    this.#entries = new LRUCache({ max: maxSize });
    parts.store.changeFeed?.subscribe(({ keyIds, userIds, overflow }) => {
      if (overflow) this.#remove(() => true);
      else if (keyIds.size > 0 || userIds.size > 0)
        this.#remove(
          (caller) =>
            usersOf(caller).some((id) => userIds.has(id)) || dependsOn(caller, (id) => keyIds.has(id)),
        );
    });
  }

  /** Returns the caller of a cached key that is fresh and valid from the address. */
  getCached(key: string, address: string): Caller | undefined {
    const entry = this.#entries.get(hashKey(key));
    if (entry === undefined || !this.#isFresh(entry)) return undefined;
    return entry.allows?.(address) === false ? undefined : entry.caller;
  }

  #isFresh({ freshUntil, feedValidity, pauses, expiresAt }: Entry): boolean {
    const { clock, timers, store } = this.#parts;
    if (expiresAt <= clock()) return false;
    const now = timers.monotonic();
    // A change that arrived during a pause of the process may still be unread.
    if (!isAfterPause(pauses, store.changeFeed)) return false;
    return now < freshUntil || isFresh(feedValidity, store.changeFeed, now);
  }

  /** @throws Failure 401 when the key is unknown, disabled, expired or not valid from the address. */
  async authenticate(key: string, address: string): Promise<Caller> {
    const { caller, allows } = await this.#lookUp(hashKey(key));
    if (allows?.(address) === false) throw keyRefused();
    return caller;
  }

  /** Looks up a key once for all concurrent requests. */
  #lookUp(hash: string): Promise<Entry> {
    const now = this.#parts.timers.monotonic();
    const running = this.#lookUps.get(hash);
    if (running !== undefined && now < running.shareUntil) return running.entry;
    const entry = this.#findFresh(hash).finally(() => {
      if (this.#lookUps.get(hash)?.entry === entry) this.#lookUps.delete(hash);
    });
    this.#lookUps.set(hash, { entry, shareUntil: now + cacheTtlMs });
    return entry;
  }

  /** Looks up a key, and again if the process was paused meanwhile: the result is then as old as the pause. */
  async #findFresh(hash: string): Promise<Entry> {
    for (let left = maxLookUps; ; left -= 1) {
      const entry = await this.#find(hash);
      const { store, timers } = this.#parts;
      if (entry.pauses === pausesOf(store.changeFeed)) return entry;
      this.#entries.delete(hash);
      if (left > 1) continue;
      if (timers.monotonic() < entry.freshUntil) return entry;
      throw new StoreUnavailable(new Error('the process pauses too often to check keys'));
    }
  }

  async #find(hash: string): Promise<Entry> {
    const { store, clock, timers } = this.#parts;
    const now = timers.monotonic();
    const validity = validityUntil(store.changeFeed, now + feedTtlMs);
    const pauses = pausesOf(store.changeFeed);
    const changes = this.#changes;
    const token = await findTokenByHash(store.read, hash);
    if (token === undefined || !isUsable(token, clock())) {
      this.#entries.delete(hash);
      throw keyRefused();
    }
    const caller: Caller = {
      ...callerOf(token),
      allowances: await findAllowances(store.read, token),
    };
    const allows = token.allowIps === null ? undefined : addressTest(token.allowIps);
    const entry = {
      caller,
      allows,
      freshUntil: now + cacheTtlMs,
      feedValidity: changes === this.#changes ? validity : undefined,
      pauses,
      expiresAt: expiryOf(token),
    };
    this.#entries.set(hash, entry);
    return entry;
  }

  /** Removes a key by its hash. */
  invalidateHash(hash: string): void {
    this.#changes += 1;
    this.#entries.delete(hash);
    this.#lookUps.delete(hash);
  }

  /** Removes a key, its descendants and the keys that share its allowance, or all keys of a user and its sub-accounts. */
  invalidate(changed: { tokenId: number } | { userId: number }): void {
    this.#remove((caller) =>
      'tokenId' in changed
        ? dependsOn(caller, (id) => id === changed.tokenId)
        : usersOf(caller).includes(changed.userId),
    );
  }

  #remove(isAffected: (caller: Caller) => boolean): void {
    this.#changes += 1;
    // The owners of running look-ups are not known yet.
    this.#lookUps.clear();
    for (const [hash, { caller }] of this.#entries.entries())
      if (isAffected(caller)) this.#entries.delete(hash);
  }
}

/** The user of a key, and the customer whose sub-account the user is. */
const usersOf = ({ userId, parentId }: Caller) => (parentId === undefined ? [userId] : [userId, parentId]);

const pausesOf = (feed: ChangeFeed | undefined) => feed?.pauses ?? 0;

/** Whether a key, one of its ancestors or a key whose allowance it shares matches. */
function dependsOn(
  { tokenId, ancestorIds = [], allowances = [] }: Caller,
  matches: (tokenId: number) => boolean,
): boolean {
  return (
    matches(tokenId) ||
    ancestorIds.some(matches) ||
    allowances.some((allowance) => matches(allowance.tokenId))
  );
}

/** Returns the owner and the rights of a key, without its allowances. */
export function callerOf(token: TokenRecord): Caller {
  return {
    tokenId: token.id,
    userId: token.userId,
    parentId: token.parentId ?? undefined,
    ancestorIds: token.lineage.ancestorIds,
    hasLimits: hasLimits(token),
    tokenName: token.name,
    memberRole: token.memberRole ?? undefined,
    unlimited: token.unlimitedQuota && !token.hasWallet && !token.hasBudget,
    isAdmin: hasAdminAccess(token),
    group: token.group,
    modelLimits: token.modelLimits,
  };
}

/** Whether a key is valid at `now`, in epoch milliseconds. */
export function isUsable(token: TokenRecord, now: number): boolean {
  return token.status === 1 && !token.lineage.isCutOff && !token.userDisabled && expiryOf(token) > now;
}

/** Returns the earliest expiry of a key and its ancestors, in epoch milliseconds. */
function expiryOf({ expiredTime, lineage }: TokenRecord): number {
  const end = earliest(expiredTime, lineage.expiredTime);
  return end === -1 ? Number.POSITIVE_INFINITY : end * 1000;
}
