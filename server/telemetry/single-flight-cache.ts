import { LRUCache } from 'lru-cache';

export interface SingleFlightCacheOptions<T> {
  load: () => Promise<T>;
  /** How long a value stays fresh. */
  maxAgeMs: number;
  /** How long a caller waits for a new value. */
  timeoutMs: number;
  /** Monotonic time above 0, in milliseconds. */
  now: () => number;
}

/** Caches a value. Concurrent callers share one load. */
export class SingleFlightCache<T extends object | number> {
  readonly #cache: LRUCache<'value', T>;
  readonly #timeoutMs: number;

  constructor({ load, maxAgeMs, timeoutMs, now }: SingleFlightCacheOptions<T>) {
    this.#timeoutMs = timeoutMs;
    this.#cache = new LRUCache({ max: 1, ttl: maxAgeMs, ttlResolution: 0, perf: { now }, fetchMethod: load });
  }

  /** Returns a fresh value. Undefined if loading failed or timed out. Never rejects. */
  async get(): Promise<T | undefined> {
    const timedOut = Promise.withResolvers<undefined>();
    const timeout = setTimeout(() => timedOut.resolve(undefined), this.#timeoutMs);
    const loaded = this.#cache.fetch('value').catch(() => undefined);
    const value = await Promise.race([loaded, timedOut.promise]);
    clearTimeout(timeout);
    return value;
  }
}
