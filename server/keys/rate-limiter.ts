import { Failure } from '../lib/failure.ts';
import type { Timers } from '../lib/timers.ts';
import { type KeyLimits, type Limit, limitsOf } from './allowances.ts';
import { Bucket } from './bucket.ts';
import type { Caller } from './caller.ts';
import type { SharedRequests } from './shared-requests.ts';

interface RateLimiterParts {
  /** Returns the current configuration. */
  limits: () => KeyLimits;
  timers: Pick<Timers, 'monotonic'>;
  /** Undefined: there is only one gateway. */
  shared?: SharedRequests | undefined;
}

/** Time in which an unused bucket refills completely, in milliseconds. */
const refillMs = 60_000;

/** Limits requests and socket handshakes a minute for each key. */
export class RateLimiter {
  readonly #parts: RateLimiterParts;
  /** Least recently used first. */
  readonly #buckets = new Map<number, Bucket>();

  constructor(parts: RateLimiterParts) {
    this.#parts = parts;
  }

  /**
   * Deducts a request from every allowance of the caller, or from none. Returns a promise when the other gateways must
   * be asked, which takes at most 1 s.
   *
   * @throws Failure 429 when an allowance is exhausted
   */
  acquire(caller: Pick<Caller, 'tokenId' | 'allowances'>): Promise<void> | undefined {
    const { timers, shared } = this.#parts;
    const limits = limitsOf(caller, 'requestsPerMinute', this.#parts.limits());
    if (limits.length === 0) return undefined;
    const now = timers.monotonic();
    this.#dropFull(now);
    const buckets = limits.map((limit) => this.#bucketOf(limit, now));
    const empty = buckets.find(({ hasCapacity }) => !hasCapacity);
    if (empty !== undefined) throw refusal(empty);
    const uncovered = shared === undefined ? [] : buckets.filter((bucket) => !shared.covers(bucket));
    for (const bucket of buckets) {
      if (uncovered.includes(bucket)) continue;
      bucket.remaining -= 1;
      shared?.accepted(bucket);
    }
    if (shared === undefined || uncovered.length === 0) return undefined;
    return acquireShared(shared, buckets, uncovered);
  }

  /** Number of buckets in memory. Buckets that have refilled are dropped. */
  get size(): number {
    return this.#buckets.size;
  }

  #bucketOf(limit: Limit, now: number): Bucket {
    const { tokenId, max } = limit;
    const bucket = this.#buckets.get(tokenId) ?? new Bucket(limit, now);
    bucket.max = max;
    bucket.fill(now, this.#parts.shared?.shares);
    this.#buckets.delete(tokenId);
    this.#buckets.set(tokenId, bucket);
    return bucket;
  }

  /** Checks two buckets for each that may be added, so that the map stays close to the number of active keys. */
  #dropFull(now: number): void {
    for (let checks = 2; checks > 0; checks -= 1) {
      const oldest = this.#buckets.values().next().value;
      if (oldest === undefined || now - oldest.filledAt < refillMs) return;
      this.#buckets.delete(oldest.tokenId);
    }
  }
}

async function acquireShared(
  shared: SharedRequests,
  buckets: readonly Bucket[],
  uncovered: readonly Bucket[],
): Promise<void> {
  const refused = await shared.requestAll(uncovered);
  const [empty] = refused;
  if (empty === undefined) return;
  for (const bucket of buckets) if (!refused.includes(bucket)) shared.refund(bucket);
  throw refusal(empty);
}

function refusal({ max, retryAfter }: Bucket): Failure {
  const message = `This key may send ${max} requests a minute. Repeat after ${retryAfter} seconds.`;
  return new Failure(429, 'rate_limit_exceeded', message, { retryAfter });
}
