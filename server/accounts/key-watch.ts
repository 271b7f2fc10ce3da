import type { Logger } from '../runtime/logger.ts';
import { yieldToEventLoop } from '../runtime/timers.ts';
import { hashKey } from '../store/keys.ts';
import { findTokensByHash, type TokenRecord } from '../store/queries/tokens.ts';
import { type KeyRing, type KeyRingParts, usable } from './key-ring.ts';

/** Milliseconds between two looks at the keys in use: a revoked one is noticed within a second, however busy. */
const lookEvery = 500;
/** Keys that are looked up at a time. */
const chunk = 50;

/** Looks at what a key may do again; rejects when it could not find out. */
type Recheck = () => Promise<void>;

interface Watched {
  rechecks: Set<Recheck>;
  /** What the key could do at the last look; undefined: none has come to an end yet. */
  last: string | undefined;
}

/** Watches the keys of what goes on for long, such as sockets, on whichever gateway they are changed. */
export class KeyWatch {
  readonly #parts: KeyRingParts & { keys: KeyRing; logger: Logger };
  readonly #watched = new Map<string, Watched>();
  #planned = false;
  #failing = false;

  constructor(parts: KeyRingParts & { keys: KeyRing; logger: Logger }) {
    this.#parts = parts;
  }

  /** Calls `recheck` soon, and whenever the key has changed, until the function that it gives is called. */
  watch(key: string, recheck: Recheck): () => void {
    const hash = hashKey(key);
    const entry = this.#watched.get(hash) ?? { rechecks: new Set(), last: undefined };
    this.#watched.set(hash, entry);
    entry.rechecks.add(recheck);
    // What has changed since the key was checked must not be taken for how it always was.
    entry.last = undefined;
    this.#plan();
    return () => {
      entry.rechecks.delete(recheck);
      if (entry.rechecks.size === 0 && this.#watched.get(hash) === entry) this.#watched.delete(hash);
    };
  }

  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    this.#parts.timers.alarm(lookEvery, () => {
      void this.#look().finally(() => {
        this.#planned = false;
        if (this.#watched.size > 0) this.#plan();
      });
    });
  }

  async #look(): Promise<void> {
    const { store, logger } = this.#parts;
    try {
      const hashes = [...this.#watched.keys()];
      for (let from = 0; from < hashes.length; from += chunk) {
        const some = hashes.slice(from, from + chunk);
        // Always as many, so that there is one statement to prepare.
        const asked = Array.from({ length: chunk }, (_, index) => some[index] ?? some[0] ?? '');
        const tokens = await findTokensByHash(store.read, asked);
        for (const hash of some) this.#compare(hash, tokens.get(hash));
        await yieldToEventLoop();
      }
      this.#failing = false;
    } catch (error) {
      // A store that is away is told once, not twice a second.
      if (!this.#failing) logger.error({ err: error }, 'the keys in use could not be checked');
      this.#failing = true;
    }
  }

  #compare(hash: string, token: TokenRecord | undefined): void {
    const { keys, clock } = this.#parts;
    const entry = this.#watched.get(hash);
    const now = fingerprint(token, clock());
    if (entry === undefined || entry.last === now) return;
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

/** All that a key may do, apart from its quota. */
function fingerprint(token: TokenRecord | undefined, now: number): string {
  if (token === undefined || !usable(token, now)) return 'gone';
  return JSON.stringify([token.role, token.group, token.modelLimits, token.allowIps]);
}
