import { LRUCache } from 'lru-cache';
import { Failure } from '../failure.ts';
import type { Timers } from '../runtime/timers.ts';
import { type AddressTest, addressTest } from '../settings/address-ranges.ts';
import { hashKey } from '../store/keys.ts';
import { type Belief, beliefIn, isBelieved } from '../store/news.ts';
import { findAllowances, findTokenByHash, type TokenRecord } from '../store/queries/tokens.ts';
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
        this.#forget((caller) => users.has(caller.userId) || drawsOn(caller, (id) => tokens.has(id)));
    });
  }

  /** The caller of a key that was checked a moment ago and may be used from the address. */
  recall(key: string, address: string): Caller | undefined {
    const known = this.#known.get(hashKey(key));
    if (known === undefined || !this.#isBelieved(known)) return undefined;
    return known.allows?.(address) === false ? undefined : known.caller;
  }

  #isBelieved({ until, heard, expires }: Known): boolean {
    const { clock, timers, store } = this.#parts;
    if (expires <= clock()) return false;
    const now = timers.monotonic();
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
    const known = this.#find(hash, until).finally(() => {
      if (this.#lookUps.get(hash)?.known === known) this.#lookUps.delete(hash);
    });
    this.#lookUps.set(hash, { known, until });
    return known;
  }

  async #find(hash: string, until: number): Promise<Known> {
    const { store, clock } = this.#parts;
    const heard = beliefIn(store.hearing, until - cacheTtlMs + heardTtlMs);
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
      tokenName: token.name,
      unlimited: token.unlimitedQuota,
      role: token.role,
      group: token.group,
      modelLimits: token.modelLimits,
    };
    const allows = token.allowIps === null ? undefined : addressTest(token.allowIps);
    const expires = token.expiredTime === -1 ? Number.POSITIVE_INFINITY : token.expiredTime * 1000;
    const known = { caller, allows, until, heard: changes === this.#changes ? heard : undefined, expires };
    this.#known.set(hash, known);
    return known;
  }

  /** Believes nothing of a key any more that it knew before, by its hash. */
  drop(hash: string): void {
    this.#changes += 1;
    this.#known.delete(hash);
    this.#lookUps.delete(hash);
  }

  /** Believes nothing any more that it knew of a token and those that share its allowance, or of all tokens of a user. */
  forget(gone: { tokenId: number } | { userId: number }): void {
    this.#forget((caller) =>
      'tokenId' in gone ? drawsOn(caller, (id) => id === gone.tokenId) : caller.userId === gone.userId,
    );
  }

  #forget(isIt: (caller: Caller) => boolean): void {
    this.#changes += 1;
    // Whose they are is not known yet.
    this.#lookUps.clear();
    for (const [hash, { caller }] of this.#known.entries()) if (isIt(caller)) this.#known.delete(hash);
  }
}

/** Whether a key is a token, or shares its allowance. */
function drawsOn({ tokenId, allowances = [] }: Caller, isIt: (tokenId: number) => boolean): boolean {
  return isIt(tokenId) || allowances.some((allowance) => isIt(allowance.tokenId));
}

/** Whether a key works at a time, in epoch milliseconds. */
export function usable(token: TokenRecord, now: number): boolean {
  return (
    token.status === 1 && !token.userDisabled && (token.expiredTime === -1 || token.expiredTime * 1000 > now)
  );
}
