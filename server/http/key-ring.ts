import { Failure } from '../failure.ts';
import type { Caller } from '../models/access.ts';
import { hashKey } from '../store/keys.ts';
import { findTokenByHash, type TokenRecord } from '../store/queries/tokens.ts';
import type { Store } from '../store/store.ts';

/** How long a key's record is believed, in milliseconds: a revoked key dies within this time on every node. */
const believed = 1_000;
const remembered = 10_000;

/** Knows API keys by their hash, and keeps the lately used ones at hand. */
export class KeyRing {
  readonly #store: Store;
  readonly #clock: () => number;
  readonly #known = new Map<string, { caller: Caller; until: number }>();

  constructor(store: Store, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  /** The caller of a key that was checked a moment ago. */
  recall(key: string): Caller | undefined {
    const entry = this.#known.get(hashKey(key));
    return entry !== undefined && entry.until > this.#clock() ? entry.caller : undefined;
  }

  /** @throws Failure 401 when the key is unknown, disabled or expired. */
  async check(key: string): Promise<Caller> {
    const hash = hashKey(key);
    const now = this.#clock();
    const token = await findTokenByHash(this.#store.read, hash);
    if (token === undefined || !usable(token, now)) {
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
    // A Map keeps insertion order: the first key is the one used longest ago.
    this.#known.delete(hash);
    const oldest = this.#known.size >= remembered ? this.#known.keys().next().value : undefined;
    if (oldest !== undefined) this.#known.delete(oldest);
    const expires = token.expiredTime === -1 ? Number.POSITIVE_INFINITY : token.expiredTime * 1000;
    this.#known.set(hash, { caller, until: Math.min(now + believed, expires) });
    return caller;
  }
}

function usable(token: TokenRecord, now: number): boolean {
  return token.status === 1 && (token.expiredTime === -1 || token.expiredTime * 1000 > now);
}
