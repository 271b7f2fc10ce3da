import { type Alarm, yieldToEventLoop } from '../lib/timers.ts';
import { type CacheValidity, isFresh, validityUntil } from '../store/change-feed.ts';
import { hashKey } from '../store/keys.ts';
import { findTokensByHash, hasAdminAccess, hasLimits, type TokenRecord } from '../store/queries/tokens.ts';
import type { Logger } from '../telemetry/logger.ts';
import { isUsable, type KeyCache, type KeyCacheParts } from './key-cache.ts';

/** Poll interval of the keys in use, in milliseconds. A revoked key is detected within 1 s under load. */
const pollIntervalMs = 500;
/** How long a poll result stays valid while the change feed is connected, in milliseconds. */
const feedTtlMs = 30_000;
/** Keys in one query. */
const batchSize = 50;

/** Fingerprint of a key that does not exist or is not valid. */
const invalidKey = 'invalid';

/** Reads the rights of a key again. Rejects when it cannot read them. */
type Recheck = () => Promise<void>;

interface Watched {
  rechecks: Set<Recheck>;
  /** Rights of the key at the last poll. Undefined: not polled yet. */
  fingerprint: string | undefined;
  /** Validity of the last poll. Undefined: the next poll is due. */
  validity: CacheValidity | undefined;
  /** Record of the key at the last poll. */
  token: TokenRecord | undefined;
}

/** Detects changes of keys during long-lived connections such as sockets, on whichever gateway they are made. */
export class KeyWatcher {
  readonly #parts: KeyCacheParts & { keys: KeyCache; logger: Logger };
  readonly #watched = new Map<string, Watched>();
  #alarm: { alarm: Alarm; at: number } | undefined;
  #isPolling = false;
  /** Delay of the poll after the running one, in milliseconds. */
  #nextDelayMs = pollIntervalMs;
  #failing = false;

  constructor(parts: KeyCacheParts & { keys: KeyCache; logger: Logger }) {
    this.#parts = parts;
    parts.store.changeFeed?.subscribe(({ keyIds, userIds, overflow }) => {
      let isAnyAffected = false;
      for (const entry of this.#watched.values()) {
        const { token } = entry;
        // The owner of a key that was never found is not known.
        const isAffected =
          overflow ||
          token === undefined ||
          userIds.has(token.userId) ||
          (token.parentId !== null && userIds.has(token.parentId)) ||
          [token.id, ...token.lineage.ancestorIds].some((id) => keyIds.has(id));
        if (!isAffected) continue;
        entry.validity = undefined;
        isAnyAffected = true;
      }
      if (isAnyAffected) this.#schedule(0);
    });
  }

  /** Calls `recheck` after the next poll and after every change of the key. Returns a function that stops it. */
  watch(key: string, recheck: Recheck): () => void {
    const hash = hashKey(key);
    const entry = this.#watched.get(hash) ?? {
      rechecks: new Set(),
      fingerprint: undefined,
      validity: undefined,
      token: undefined,
    };
    this.#watched.set(hash, entry);
    entry.rechecks.add(recheck);
    // The key may have changed between its authentication and this call.
    entry.fingerprint = undefined;
    entry.validity = undefined;
    this.#schedule(pollIntervalMs);
    return () => {
      entry.rechecks.delete(recheck);
      if (entry.rechecks.size === 0 && this.#watched.get(hash) === entry) this.#watched.delete(hash);
    };
  }

  /** Polls within `ms` milliseconds. During a poll it schedules the next one. */
  #schedule(ms: number): void {
    if (this.#isPolling) {
      this.#nextDelayMs = Math.min(this.#nextDelayMs, ms);
      return;
    }
    const at = this.#parts.timers.monotonic() + ms;
    if (this.#alarm !== undefined && this.#alarm.at <= at) return;
    this.#alarm?.alarm.cancel();
    const alarm = this.#parts.timers.alarm(ms, () => {
      this.#alarm = undefined;
      this.#isPolling = true;
      void this.#poll().finally(() => {
        this.#isPolling = false;
        const delay = this.#nextDelayMs;
        this.#nextDelayMs = pollIntervalMs;
        if (this.#watched.size > 0) this.#schedule(delay);
      });
    });
    this.#alarm = { alarm, at };
  }

  async #poll(): Promise<void> {
    const { store, logger, timers } = this.#parts;
    const hashes = [...this.#watched].filter(([, entry]) => this.#isDue(entry)).map(([hash]) => hash);
    try {
      for (let from = 0; from < hashes.length; from += batchSize) {
        const batch = hashes.slice(from, from + batchSize);
        // Batches have a fixed length, so that one prepared statement serves all.
        const padded = Array.from({ length: batchSize }, (_, index) => batch[index] ?? batch[0] ?? '');
        const validity = validityUntil(store.changeFeed, timers.monotonic() + feedTtlMs);
        for (const hash of batch) {
          const entry = this.#watched.get(hash);
          // A change that arrives during the query clears this again.
          if (entry !== undefined) entry.validity = validity;
        }
        const tokens = await findTokensByHash(store.read, padded);
        for (const hash of batch) this.#compare(hash, tokens.get(hash));
        await yieldToEventLoop();
      }
      this.#failing = false;
    } catch (error) {
      for (const hash of hashes) {
        const entry = this.#watched.get(hash);
        if (entry !== undefined) entry.validity = undefined;
      }
      // Logged once while the store is unavailable.
      if (!this.#failing) logger.error({ err: error }, 'the keys in use could not be checked');
      this.#failing = true;
    }
  }

  #isDue({ validity, token, fingerprint }: Watched): boolean {
    const { store, clock, timers } = this.#parts;
    if (!isFresh(validity, store.changeFeed, timers.monotonic())) return true;
    // An expiry is not a change, so the feed does not report it.
    const isValid = token !== undefined && isUsable(token, clock());
    return fingerprint === undefined || isValid === (fingerprint === invalidKey);
  }

  #compare(hash: string, token: TokenRecord | undefined): void {
    const { keys, clock } = this.#parts;
    const entry = this.#watched.get(hash);
    const fingerprint = fingerprintOf(token, clock());
    if (entry === undefined) return;
    entry.token = token;
    if (entry.fingerprint === fingerprint) return;
    entry.fingerprint = fingerprint;
    keys.invalidateHash(hash);
    for (const recheck of entry.rechecks) {
      recheck().catch((error: unknown) => {
        entry.fingerprint = undefined;
        this.#parts.logger.error({ err: error }, 'a key could not be checked again');
      });
    }
  }
}

/** Returns all rights of a key, except its quota, as one string. */
function fingerprintOf(token: TokenRecord | undefined, now: number): string {
  if (token === undefined || !isUsable(token, now)) return invalidKey;
  const { group, unlimitedQuota, hasWallet, hasBudget, modelLimits, allowIps, memberRole } = token;
  const rights = [hasAdminAccess(token), hasLimits(token), unlimitedQuota, hasWallet, hasBudget];
  return JSON.stringify([...rights, group, modelLimits, allowIps, memberRole]);
}
