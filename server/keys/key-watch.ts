import { type Alarm, yieldToEventLoop } from '../lib/timers.ts';
import { hashKey } from '../store/keys.ts';
import { type Belief, beliefIn, isBelieved } from '../store/news.ts';
import { findTokensByHash, hasAdminAccess, hasLimits, type TokenRecord } from '../store/queries/tokens.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type KeyRing, type KeyRingParts, usable } from './key-ring.ts';

/** Milliseconds between two looks at the keys in use: a revoked one is noticed within a second, however busy. */
const lookEvery = 500;
/** So long a look is good for where changes by other gateways are heard of, in milliseconds. */
const heardFor = 30_000;
/** Keys that are looked up at a time. */
const chunk = 50;

/** What a key can do that is not there, or may not be used. */
const gone = 'gone';

/** Looks at what a key may do again; rejects when it could not find out. */
type Recheck = () => Promise<void>;

interface Watched {
  rechecks: Set<Recheck>;
  /** What the key could do at the last look; undefined: none has come to an end yet. */
  last: string | undefined;
  /** What the last look is good for, by the monotonic clock; undefined: the next one is due. */
  good: Belief | undefined;
  /** The key's record at the last look. */
  token: TokenRecord | undefined;
}

/** Watches the keys of what goes on for long, such as sockets, on whichever gateway they are changed. */
export class KeyWatch {
  readonly #parts: KeyRingParts & { keys: KeyRing; logger: Logger };
  readonly #watched = new Map<string, Watched>();
  #alarm: { alarm: Alarm; at: number } | undefined;
  #looking = false;
  /** How soon the look after the one under way is due. */
  #again = lookEvery;
  #failing = false;

  constructor(parts: KeyRingParts & { keys: KeyRing; logger: Logger }) {
    this.#parts = parts;
    parts.store.hearing?.subscribe(({ tokens, users, flood }) => {
      let any = false;
      for (const entry of this.#watched.values()) {
        const { token } = entry;
        // Of one that was never found, nobody knows whose it is.
        const isIt =
          flood ||
          token === undefined ||
          users.has(token.userId) ||
          [token.id, ...token.lineage.ancestorIds].some((id) => tokens.has(id));
        if (!isIt) continue;
        entry.good = undefined;
        any = true;
      }
      if (any) this.#plan(0);
    });
  }

  /** Calls `recheck` soon, and whenever the key has changed, until the function that it gives is called. */
  watch(key: string, recheck: Recheck): () => void {
    const hash = hashKey(key);
    const entry = this.#watched.get(hash) ?? {
      rechecks: new Set(),
      last: undefined,
      good: undefined,
      token: undefined,
    };
    this.#watched.set(hash, entry);
    entry.rechecks.add(recheck);
    // What has changed since the key was checked must not be taken for how it always was.
    entry.last = undefined;
    entry.good = undefined;
    this.#plan(lookEvery);
    return () => {
      entry.rechecks.delete(recheck);
      if (entry.rechecks.size === 0 && this.#watched.get(hash) === entry) this.#watched.delete(hash);
    };
  }

  /** Looks within so many milliseconds; who comes while a look is under way has the next one. */
  #plan(ms: number): void {
    if (this.#looking) {
      this.#again = Math.min(this.#again, ms);
      return;
    }
    const at = this.#parts.timers.monotonic() + ms;
    if (this.#alarm !== undefined && this.#alarm.at <= at) return;
    this.#alarm?.alarm.cancel();
    const alarm = this.#parts.timers.alarm(ms, () => {
      this.#alarm = undefined;
      this.#looking = true;
      void this.#look().finally(() => {
        this.#looking = false;
        const next = this.#again;
        this.#again = lookEvery;
        if (this.#watched.size > 0) this.#plan(next);
      });
    });
    this.#alarm = { alarm, at };
  }

  async #look(): Promise<void> {
    const { store, logger, timers } = this.#parts;
    const hashes = [...this.#watched].filter(([, entry]) => this.#isDue(entry)).map(([hash]) => hash);
    try {
      for (let from = 0; from < hashes.length; from += chunk) {
        const some = hashes.slice(from, from + chunk);
        // Always as many, so that there is one statement to prepare.
        const asked = Array.from({ length: chunk }, (_, index) => some[index] ?? some[0] ?? '');
        const good = beliefIn(store.hearing, timers.monotonic() + heardFor);
        for (const hash of some) {
          const entry = this.#watched.get(hash);
          // Whoever hears of a change meanwhile takes it away again.
          if (entry !== undefined) entry.good = good;
        }
        const tokens = await findTokensByHash(store.read, asked);
        for (const hash of some) this.#compare(hash, tokens.get(hash));
        await yieldToEventLoop();
      }
      this.#failing = false;
    } catch (error) {
      for (const hash of hashes) {
        const entry = this.#watched.get(hash);
        if (entry !== undefined) entry.good = undefined;
      }
      // A store that is away is told once, not twice a second.
      if (!this.#failing) logger.error({ err: error }, 'the keys in use could not be checked');
      this.#failing = true;
    }
  }

  #isDue({ good, token, last }: Watched): boolean {
    const { store, clock, timers } = this.#parts;
    if (!isBelieved(good, store.hearing, timers.monotonic())) return true;
    // One that ends changes nothing that would be heard of.
    const works = token !== undefined && usable(token, clock());
    return last === undefined || works === (last === gone);
  }

  #compare(hash: string, token: TokenRecord | undefined): void {
    const { keys, clock } = this.#parts;
    const entry = this.#watched.get(hash);
    const now = fingerprint(token, clock());
    if (entry === undefined) return;
    entry.token = token;
    if (entry.last === now) return;
    entry.last = now;
    keys.drop(hash);
    for (const recheck of entry.rechecks) {
      recheck().catch((error: unknown) => {
        entry.last = undefined;
        this.#parts.logger.error({ err: error }, 'a key could not be checked again');
      });
    }
  }
}

/** All that a key may do, apart from how much quota it has. */
function fingerprint(token: TokenRecord | undefined, now: number): string {
  if (token === undefined || !usable(token, now)) return gone;
  const { group, unlimitedQuota, modelLimits, allowIps } = token;
  return JSON.stringify([
    hasAdminAccess(token),
    hasLimits(token),
    group,
    unlimitedQuota,
    modelLimits,
    allowIps,
  ]);
}
