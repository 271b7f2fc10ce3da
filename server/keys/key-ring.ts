import { LRUCache } from 'lru-cache';
import { Failure } from '../lib/failure.ts';
import type { Timers } from '../lib/timers.ts';
import { type AddressTest, addressTest } from '../settings/address-ranges.ts';
import { StoreUnavailable } from '../store/availability.ts';
import { hashKey } from '../store/keys.ts';
import { type Belief, beliefIn, type Hearing, isAfterPause, isBelieved } from '../store/news.ts';
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

/** What keys are checked with. */
export interface KeyRingParts {
  store: Pick<Store, 'read'> & Partial<Pick<Store, 'hearing'>>;
  /** Epoch milliseconds. */
  clock: () => number;
  timers: Timers;
}

/** How long a key's record is believed, in milliseconds: a revoked key dies within this time on every node. */
const cacheTtlMs = 1_000;
/** The same where changes by other gateways are heard of. */
const heardTtlMs = 30_000;
/** Look-ups of one key in a row during which the process may pause. */
const maxLookUps = 3;
/** So many keys are kept at hand. */
const maxCached = 10_000;

/** What is known of a key: `until` is by the monotonic clock, `expires` by the calendar. */
interface Known {
  caller: Caller;
  /** Undefined: it may be used from everywhere. */
  allows: AddressTest | undefined;
  until: number;
  /** Until then it is believed in this era; undefined: a change may have been missed since it was asked for. */
  heard: Belief | undefined;
  /** Pauses of the process before it was looked up. */
  pauses: number;
  expires: number;
}

/** The refusal of a key, in the same words for whatever reason: who has found a key learns nothing of it. */
export function keyRefused(): Failure {
  const message = 'The API key is unknown, disabled, expired or not for use from this address.';
  return new Failure(401, 'invalid_api_key', message);
}

/** Knows API keys by their hash, and keeps the lately used ones at hand. */
export class KeyRing {
  readonly #parts: KeyRingParts;
  readonly #known: LRUCache<string, Known>;
  /** Those under way, and until when they may be joined. */
  readonly #lookUps = new Map<string, { known: Promise<Known>; until: number }>();
  /** Grows with each change: what was asked before it is not believed for long. */
  #changes = 0;

  constructor(parts: KeyRingParts, max: number = maxCached) {
    this.#parts = parts;
    this.#known = new LRUCache({ max });
    parts.store.hearing?.subscribe(({ tokens, users, flood }) => {
      if (flood) this.#forget(() => true);
      else if (tokens.size > 0 || users.size > 0)
        this.#forget((caller) => users.has(caller.userId) || dependsOn(caller, (id) => tokens.has(id)));
    });
  }

  /** The caller of a key that was checked a moment ago and may be used from the address. */
  recall(key: string, address: string): Caller | undefined {
    const known = this.#known.get(hashKey(key));
    if (known === undefined || !this.#isBelieved(known)) return undefined;
    return known.allows?.(address) === false ? undefined : known.caller;
  }

  #isBelieved({ until, heard, pauses, expires }: Known): boolean {
    const { clock, timers, store } = this.#parts;
    if (expires <= clock()) return false;
    const now = timers.monotonic();
    // A change that was announced during a pause may still be unread.
    if (!isAfterPause(pauses, store.hearing)) return false;
    return now < until || isBelieved(heard, store.hearing, now);
  }

  /** @throws Failure 401 when the key is unknown, disabled or expired, or not for use from the address. */
  async check(key: string, address: string): Promise<Caller> {
    const { caller, allows } = await this.#lookUp(hashKey(key));
    if (allows?.(address) === false) throw keyRefused();
    return caller;
  }

  /** A key that sends many requests at once is looked up once for all of them. */
  #lookUp(hash: string): Promise<Known> {
    const now = this.#parts.timers.monotonic();
    const running = this.#lookUps.get(hash);
    if (running !== undefined && now < running.until) return running.known;
    const until = now + cacheTtlMs;
    const known = this.#findFresh(hash).finally(() => {
      if (this.#lookUps.get(hash)?.known === known) this.#lookUps.delete(hash);
    });
    this.#lookUps.set(hash, { known, until });
    return known;
  }

  /**
   * Looks up a key. A pause of the process during the look-up makes its result as old as the pause, so that the key is
   * looked up again then.
   */
  async #findFresh(hash: string): Promise<Known> {
    for (let left = maxLookUps; ; left -= 1) {
      const known = await this.#find(hash);
      const { store, timers } = this.#parts;
      if (known.pauses === pausesOf(store.hearing)) return known;
      this.#known.delete(hash);
      if (left > 1) continue;
      if (timers.monotonic() < known.until) return known;
      throw new StoreUnavailable(new Error('the process pauses too often to check keys'));
    }
  }

  async #find(hash: string): Promise<Known> {
    const { store, clock, timers } = this.#parts;
    const now = timers.monotonic();
    const until = now + cacheTtlMs;
    const heard = beliefIn(store.hearing, now + heardTtlMs);
    const pauses = pausesOf(store.hearing);
    const changes = this.#changes;
    const token = await findTokenByHash(store.read, hash);
    if (token === undefined || !usable(token, clock())) {
      this.#known.delete(hash);
      throw keyRefused();
    }
    const caller: Caller = {
      tokenId: token.id,
      userId: token.userId,
      allowances: await findAllowances(store.read, token),
      ancestorIds: token.lineage.ancestorIds,
      hasLimits: hasLimits(token),
      tokenName: token.name,
      unlimited: token.unlimitedQuota,
      isAdmin: hasAdminAccess(token),
      group: token.group,
      modelLimits: token.modelLimits,
    };
    const allows = token.allowIps === null ? undefined : addressTest(token.allowIps);
    const expires = expiresAt(token);
    const believed = changes === this.#changes ? heard : undefined;
    const known = { caller, allows, until, heard: believed, pauses, expires };
    this.#known.set(hash, known);
    return known;
  }

  /** Believes nothing of a key any more that it knew before, by its hash. */
  drop(hash: string): void {
    this.#changes += 1;
    this.#known.delete(hash);
    this.#lookUps.delete(hash);
  }

  /** Drops a token, those created with it and those that share its allowance, or all tokens of a user, from the cache. */
  forget(gone: { tokenId: number } | { userId: number }): void {
    this.#forget((caller) =>
      'tokenId' in gone ? dependsOn(caller, (id) => id === gone.tokenId) : caller.userId === gone.userId,
    );
  }

  #forget(isIt: (caller: Caller) => boolean): void {
    this.#changes += 1;
    // Whose they are is not known yet.
    this.#lookUps.clear();
    for (const [hash, { caller }] of this.#known.entries()) if (isIt(caller)) this.#known.delete(hash);
  }
}

const pausesOf = (hearing: Hearing | undefined) => hearing?.pauses ?? 0;

/** Whether a key is a token, was created with it, directly or through others, or shares its allowance. */
function dependsOn(
  { tokenId, ancestorIds = [], allowances = [] }: Caller,
  isIt: (tokenId: number) => boolean,
): boolean {
  return isIt(tokenId) || ancestorIds.some(isIt) || allowances.some((allowance) => isIt(allowance.tokenId));
}

/** Whether a key works at a time, in epoch milliseconds. */
export function usable(token: TokenRecord, now: number): boolean {
  return token.status === 1 && !token.lineage.isCutOff && !token.userDisabled && expiresAt(token) > now;
}

/** When a key, or one that it was created with, expires, in epoch milliseconds. */
function expiresAt({ expiredTime, lineage }: TokenRecord): number {
  const end = earliest(expiredTime, lineage.expiredTime);
  return end === -1 ? Number.POSITIVE_INFINITY : end * 1000;
}
