import { LRUCache } from 'lru-cache';
import { Failure } from '../failure.ts';
import type { Timers } from '../runtime/timers.ts';
import { hashKey } from '../store/keys.ts';
import { findTokenByHash, type TokenRecord } from '../store/queries/tokens.ts';
import type { Store } from '../store/store.ts';
import type { Caller } from './caller.ts';

/** What keys are checked with. */
export interface KeyRingParts {
  store: Pick<Store, 'read'>;
  /** Epoch milliseconds. */
  clock: () => number;
  timers: Timers;
}

/** How long a key's record is believed, in milliseconds: a revoked key dies within this time on every node. */
const cacheTtlMs = 1_000;
/** So many keys are kept at hand. */
const maxCached = 10_000;

/** Knows API keys by their hash, and keeps the lately used ones at hand. */
export class KeyRing {
  readonly #parts: KeyRingParts;
  /** `until` is by the monotonic clock, `expires` by the calendar. */
  readonly #known: LRUCache<string, { caller: Caller; until: number; expires: number }>;

  constructor(parts: KeyRingParts, max: number = maxCached) {
    this.#parts = parts;
    this.#known = new LRUCache({ max });
  }

  /** The caller of a key that was checked a moment ago. */
  recall(key: string): Caller | undefined {
    const entry = this.#known.get(hashKey(key));
    const { clock, timers } = this.#parts;
    if (entry === undefined || entry.until <= timers.monotonic() || entry.expires <= clock())
      return undefined;
    return entry.caller;
  }

  /** @throws Failure 401 when the key is unknown, disabled or expired. */
  async check(key: string): Promise<Caller> {
    const hash = hashKey(key);
    const { store, clock, timers } = this.#parts;
    const until = timers.monotonic() + cacheTtlMs;
    const token = await findTokenByHash(store.read, hash);
    if (token === undefined || !usable(token, clock())) {
      this.#known.delete(hash);
      throw new Failure(401, 'invalid_api_key', 'The API key is unknown, disabled or expired.');
    }
    const caller: Caller = {
      tokenId: token.id,
      userId: token.userId,
      tokenName: token.name,
      group: token.group,
      modelLimits: token.modelLimits,
    };
    const expires = token.expiredTime === -1 ? Number.POSITIVE_INFINITY : token.expiredTime * 1000;
    this.#known.set(hash, { caller, until, expires });
    return caller;
  }
}

function usable(token: TokenRecord, now: number): boolean {
  return token.status === 1 && (token.expiredTime === -1 || token.expiredTime * 1000 > now);
}
