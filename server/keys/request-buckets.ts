import type { Timers } from '../lib/timers.ts';
import { Bucket, type SubjectLimit } from './bucket.ts';
import type { SharedRequests } from './shared-requests.ts';

interface RequestBucketsParts {
  timers: Pick<Timers, 'monotonic'>;
  /** Undefined: there is only one gateway. */
  shared?: SharedRequests | undefined;
}

/** Time in which an unused bucket refills completely, in milliseconds. */
const refillMs = 60_000;

/** Token buckets of requests a minute, by subject. */
export class RequestBuckets {
  readonly #parts: RequestBucketsParts;
  /** Least recently used first. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(parts: RequestBucketsParts) {
    this.#parts = parts;
  }

  /**
   * Deducts a request from every limit, or from none. Returns the bucket that refuses, or a promise when the other
   * gateways must be asked, which takes at most 1 s.
   */
  acquire(limits: readonly SubjectLimit[]): Bucket | undefined | Promise<Bucket | undefined> {
    const { timers, shared } = this.#parts;
    const now = timers.monotonic();
    this.#dropFull(now);
    const buckets = limits.map((limit) => this.#bucketOf(limit, now));
    const empty = buckets.find(({ hasCapacity }) => !hasCapacity);
    if (empty !== undefined) return empty;
    const uncovered = shared === undefined ? [] : buckets.filter((bucket) => !shared.covers(bucket));
    for (const bucket of buckets) {
      if (uncovered.includes(bucket)) continue;
      bucket.remaining -= 1;
      shared?.accepted(bucket);
    }
    if (shared === undefined || uncovered.length === 0) return undefined;
    return acquireShared(shared, buckets, uncovered);
  }

  /** Requests that the limit accepts now, as far as this gateway knows. */
  remaining(limit: SubjectLimit): number {
    const bucket = this.#buckets.get(limit.subject);
    if (bucket === undefined) return limit.max;
    bucket.max = limit.max;
    bucket.fill(this.#parts.timers.monotonic(), this.#parts.shared?.shares);
    return Math.max(0, Math.floor(bucket.remaining));
  }

  /** Number of buckets in memory. Buckets that have refilled are dropped. */
  get size(): number {
    return this.#buckets.size;
  }

  #bucketOf(limit: SubjectLimit, now: number): Bucket {
    const { subject, max } = limit;
    const bucket = this.#buckets.get(subject) ?? new Bucket(limit, now);
    bucket.max = max;
    bucket.fill(now, this.#parts.shared?.shares);
    this.#buckets.delete(subject);
    this.#buckets.set(subject, bucket);
    return bucket;
  }

  /** Checks two buckets for each that may be added, so that the map stays close to the number of active subjects. */
  #dropFull(now: number): void {
    for (let checks = 2; checks > 0; checks -= 1) {
      const oldest = this.#buckets.values().next().value;
      if (oldest === undefined || now - oldest.filledAt < refillMs) return;
      this.#buckets.delete(oldest.subject);
    }
  }
}

async function acquireShared(
  shared: SharedRequests,
  buckets: readonly Bucket[],
  uncovered: readonly Bucket[],
): Promise<Bucket | undefined> {
  const refused = await shared.requestAll(uncovered);
  const [empty] = refused;
  if (empty === undefined) return undefined;
  for (const bucket of buckets) if (!refused.includes(bucket)) shared.refund(bucket);
  return empty;
}
