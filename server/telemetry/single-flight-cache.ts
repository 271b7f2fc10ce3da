export interface SingleFlightCacheOptions<T> {
  load: () => Promise<T>;
  /** How long a value stays fresh. */
  maxAgeMs: number;
  /** How long a caller waits for a new value. */
  timeoutMs: number;
  /** Monotonic time, in milliseconds. */
  now: () => number;
}

/** Caches a value. Concurrent callers share one load. */
export class SingleFlightCache<T> {
  readonly #options: SingleFlightCacheOptions<T>;
  #cached: { value: T; loadedAt: number } | undefined;
  #loading: Promise<void> | undefined;

  constructor(options: SingleFlightCacheOptions<T>) {
    this.#options = options;
  }

  /** Returns a fresh value. Undefined if loading failed or timed out. Never rejects. */
  async get(): Promise<T | undefined> {
    if (!this.#isFresh) {
      this.#loading ??= this.#load();
      await this.#waitFor(this.#loading);
    }
    return this.#isFresh ? this.#cached?.value : undefined;
  }

  get #isFresh(): boolean {
    const { now, maxAgeMs } = this.#options;
    return this.#cached !== undefined && now() - this.#cached.loadedAt <= maxAgeMs;
  }

  async #load(): Promise<void> {
    const { load, now } = this.#options;
    try {
      this.#cached = { value: await load(), loadedAt: now() };
    } catch {
      // The next caller loads again.
    } finally {
      this.#loading = undefined;
    }
  }

  async #waitFor(loading: Promise<void>): Promise<void> {
    const timedOut = Promise.withResolvers<void>();
    const timeout = setTimeout(timedOut.resolve, this.#options.timeoutMs);
    await Promise.race([loading, timedOut.promise]);
    clearTimeout(timeout);
  }
}
