export interface LatestOptions<T> {
  ask: () => Promise<T>;
  /** Milliseconds that an answer is good for. */
  ageMs: number;
  /** Milliseconds that somebody waits for a new one. */
  patienceMs: number;
  /** Milliseconds by a clock that never steps. */
  now: () => number;
}

/** An answer that many want and few shall ask for: one at a time is under way, whoever waits for it. */
export class Latest<T> {
  readonly #options: LatestOptions<T>;
  #answer: { value: T; at: number } | undefined;
  #asking: Promise<void> | undefined;

  constructor(options: LatestOptions<T>) {
    this.#options = options;
  }

  /** Undefined when none came in time, or it could not be had. Never rejects. */
  async get(): Promise<T | undefined> {
    if (!this.#fresh) {
      this.#asking ??= this.#ask();
      await this.#inTime(this.#asking);
    }
    return this.#fresh ? this.#answer?.value : undefined;
  }

  get #fresh(): boolean {
    const { now, ageMs } = this.#options;
    return this.#answer !== undefined && now() - this.#answer.at <= ageMs;
  }

  async #ask(): Promise<void> {
    const { ask, now } = this.#options;
    try {
      this.#answer = { value: await ask(), at: now() };
    } catch {
      // Whoever waits finds nothing, and the next one asks again.
    } finally {
      this.#asking = undefined;
    }
  }

  async #inTime(asking: Promise<void>): Promise<void> {
    const enough = Promise.withResolvers<void>();
    const alarm = setTimeout(enough.resolve, this.#options.patienceMs);
    await Promise.race([asking, enough.promise]);
    clearTimeout(alarm);
  }
}
