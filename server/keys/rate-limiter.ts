import { Failure } from '../lib/failure.ts';
import type { Timers } from '../lib/timers.ts';
import { type KeyLimits, limitsOf } from './allowances.ts';
import type { Bucket } from './bucket.ts';
import type { Caller } from './caller.ts';
import { RequestBuckets } from './request-buckets.ts';
import type { SharedRequests } from './shared-requests.ts';

interface RateLimiterParts {
  /** Returns the current configuration. */
  limits: () => KeyLimits;
  timers: Pick<Timers, 'monotonic'>;
  /** Undefined: there is only one gateway. */
  shared?: SharedRequests | undefined;
}

/** Limits requests and socket handshakes a minute for each key. */
export class RateLimiter {
  readonly #limits: () => KeyLimits;
  readonly #buckets: RequestBuckets;

  constructor({ limits, ...parts }: RateLimiterParts) {
    this.#limits = limits;
    this.#buckets = new RequestBuckets(parts);
  }

  /**
   * Deducts a request from every allowance of the caller, or from none. Returns a promise when the other gateways must
   * be asked, which takes at most 1 s.
   *
   * @throws Failure 429 when an allowance is exhausted
   */
  acquire(caller: Pick<Caller, 'tokenId' | 'allowances'>): Promise<void> | undefined {
    const limits = limitsOf(caller, 'requestsPerMinute', this.#limits());
    if (limits.length === 0) return undefined;
    const refused = this.#buckets.acquire(limits);
    if (refused instanceof Promise) return refused.then(refuse);
    refuse(refused);
    return undefined;
  }

  /** Number of buckets in memory. Buckets that have refilled are dropped. */
  get size(): number {
    return this.#buckets.size;
  }
}

function refuse(bucket: Bucket | undefined): void {
  if (bucket === undefined) return;
  const { max, retryAfter } = bucket;
  const message = `This key may send ${max} requests a minute. Repeat after ${retryAfter} seconds.`;
  throw new Failure(429, 'rate_limit_exceeded', message, { retryAfter });
}
