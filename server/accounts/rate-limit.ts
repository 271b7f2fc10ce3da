import { Failure } from '../failure.ts';

/** A key's allowance: it fills evenly over the minute, so that a burst may use what was left unused. */
interface Allowance {
  left: number;
  /** By the monotonic clock. */
  at: number;
}

const minute = 60_000;

/** So many requests a minute for each key, handshakes included; 0: no limit. Counted by each gateway for itself. */
export class RateLimit {
  readonly #perMinute: number;
  readonly #clock: () => number;
  readonly #allowances = new Map<number, Allowance>();

  /** `clock` is the monotonic one. */
  constructor(perMinute: number, clock: () => number) {
    this.#perMinute = perMinute;
    this.#clock = clock;
  }

  /** @throws Failure 429 when the key has no request left now. */
  take(tokenId: number): void {
    const perMinute = this.#perMinute;
    if (perMinute === 0) return;
    const now = this.#clock();
    const known = this.#allowances.get(tokenId) ?? { left: perMinute, at: now };
    const left = Math.min(perMinute, known.left + ((now - known.at) / minute) * perMinute);
    if (left < 1) {
      const retryAfter = Math.ceil(((1 - left) * minute) / perMinute / 1000);
      const message = `This key may send ${perMinute} requests a minute. Repeat after ${retryAfter} seconds.`;
      throw new Failure(429, 'rate_limit_exceeded', message, { retryAfter });
    }
    this.#allowances.set(tokenId, { left: left - 1, at: now });
  }
}
