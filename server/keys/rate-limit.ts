import { Failure } from '../lib/failure.ts';
import type { Timers } from '../lib/timers.ts';
import { type KeyLimits, type Limit, limitsOf } from './allowances.ts';
import { Bucket } from './bucket.ts';
import type { Caller } from './caller.ts';
import type { SharedRequests } from './shared-requests.ts';

export interface RateLimitParts {
  /** What is configured now. */
  limits: () => KeyLimits;
  timers: Pick<Timers, 'monotonic'>;
  /** How several gateways keep one limit; left out: there is one gateway. */
  shared?: SharedRequests | undefined;
}

/** After so long, in milliseconds, an allowance that nobody uses is full, whatever its figure. */
const fullAfter = 60_000;

/** So many requests a minute for each key, handshakes included. */
export class RateLimit {
  readonly #parts: RateLimitParts;
  /** The longest unused first. */
  readonly #buckets = new Map<number, Bucket>();

  constructor(parts: RateLimitParts) {
    this.#parts = parts;
  }

  /**
   * Takes a request from every allowance that the caller draws on, or from none. A promise is given where the other
   * gateways have to be asked, which takes a second at the most.
   *
   * @throws Failure 429 when there is none left now
   */
  take(caller: Pick<Caller, 'tokenId' | 'allowances'>): Promise<void> | undefined {
    const { timers, shared } = this.#parts;
    const limits = limitsOf(caller, 'requestsPerMinute', this.#parts.limits());
    if (limits.length === 0) return undefined;
    const now = timers.monotonic();
    this.#forgetFull(now);
    const buckets = limits.map((limit) => this.#filled(limit, now));
    const empty = buckets.find(({ hasOne }) => !hasOne);
    if (empty !== undefined) throw refusal(empty);
    const asked = shared === undefined ? [] : buckets.filter((bucket) => !shared.covers(bucket));
    for (const bucket of buckets) {
      if (asked.includes(bucket)) continue;
      bucket.left -= 1;
      shared?.passed(bucket);
    }
    if (shared === undefined || asked.length === 0) return undefined;
    return takeAsked(shared, buckets, asked);
  }

  /** Allowances that are remembered, because they may not be full. */
  get size(): number {
    return this.#buckets.size;
  }

  #filled(limit: Limit, now: number): Bucket {
    const { tokenId, max } = limit;
    const bucket = this.#buckets.get(tokenId) ?? new Bucket(limit, now);
    bucket.max = max;
    bucket.fill(now, this.#parts.shared?.parts);
    this.#buckets.delete(tokenId);
    this.#buckets.set(tokenId, bucket);
    return bucket;
  }

  /** Two are looked at for each that may be added, so that there are never many more than are in use. */
  #forgetFull(now: number): void {
    for (let looks = 2; looks > 0; looks -= 1) {
      const oldest = this.#buckets.values().next().value;
      if (oldest === undefined || now - oldest.at < fullAfter) return;
      this.#buckets.delete(oldest.tokenId);
    }
  }
}

async function takeAsked(
  shared: SharedRequests,
  buckets: readonly Bucket[],
  asked: readonly Bucket[],
): Promise<void> {
  const given = await Promise.all(asked.map((bucket) => shared.ask(bucket)));
  const refused = asked.filter((_, index) => given[index] === false);
  const [empty] = refused;
  if (empty === undefined) return;
  for (const bucket of buckets) if (!refused.includes(bucket)) shared.giveBack(bucket);
  throw refusal(empty);
}

function refusal({ max, retryAfter }: Bucket): Failure {
  const message = `This key may send ${max} requests a minute. Repeat after ${retryAfter} seconds.`;
  return new Failure(429, 'rate_limit_exceeded', message, { retryAfter });
}
