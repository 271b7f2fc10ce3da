import { Failure } from '../failure.ts';
import { type KeyLimits, type Limit, limitsOf } from './allowances.ts';
import type { Caller } from './caller.ts';

/** What is left of an allowance: it fills evenly over the minute, so that a burst may use what was left unused. */
interface Bucket {
  left: number;
  /** By the monotonic clock. */
  at: number;
}

const minute = 60_000;

/** So many requests a minute for each key, handshakes included. Counted by each gateway for itself. */
export class RateLimit {
  readonly #limits: () => KeyLimits;
  readonly #clock: () => number;
  /** The longest unused first. */
  readonly #buckets = new Map<number, Bucket>();

  /** `clock` is the monotonic one. */
  constructor(limits: () => KeyLimits, clock: () => number) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** @throws Failure 429 when the key has no request left now. */
  take(caller: Pick<Caller, 'tokenId' | 'allowances'>): void {
    const limits = limitsOf(caller, 'requestsPerMinute', this.#limits());
    if (limits.length === 0) return;
    const now = this.#clock();
    this.#forgetFull(now);
    const buckets = limits.map((limit) => this.#filled(limit, now));
    for (const [index, { max }] of limits.entries()) requireOne(buckets[index]?.left ?? max, max);
    for (const bucket of buckets) bucket.left -= 1;
  }

  #filled({ tokenId, max }: Limit, now: number): Bucket {
    const known = this.#buckets.get(tokenId) ?? { left: max, at: now };
    known.left = Math.min(max, known.left + ((now - known.at) / minute) * max);
    known.at = now;
    this.#buckets.delete(tokenId);
    this.#buckets.set(tokenId, known);
    return known;
  }

  /** What was not used for a minute is full, whatever its limit. Two are looked at for each one that may be added. */
  #forgetFull(now: number): void {
    for (let looks = 2; looks > 0; looks -= 1) {
      const oldest = this.#buckets.entries().next().value;
      if (oldest === undefined || now - oldest[1].at < minute) return;
      this.#buckets.delete(oldest[0]);
    }
  }
}

function requireOne(left: number, perMinute: number): void {
  if (left >= 1) return;
  const retryAfter = Math.ceil(((1 - left) * minute) / perMinute / 1000);
  const message = `This key may send ${perMinute} requests a minute. Repeat after ${retryAfter} seconds.`;
  throw new Failure(429, 'rate_limit_exceeded', message, { retryAfter });
}
