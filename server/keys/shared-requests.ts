import type { Drawn } from '../store/commands/allowances.ts';
import type { Store } from '../store/store.ts';
import type { Bucket } from './bucket.ts';
import { LimitSync, type LimitSyncParts } from './limit-sync.ts';

interface SharedRequestsParts extends LimitSyncParts {
  store: Pick<Store, 'run'>;
  /** Epoch milliseconds. Default: the database's clock. */
  clock?: () => number;
}

/** Share of a limit that all gateways together may accept before they report it. */
const maxUnreportedShare = 0.04;
/** Longest time before accepted requests are reported, in milliseconds. */
const reportDelayMs = 250;
const cleanUpIntervalMs = 60_000;

/**
 * Enforces request limits across gateways. Each gateway reports accepted requests a few times a second, for all keys
 * and channels in one statement, and accepts only a small share of a limit before it reports. Requests beyond that share wait for the
 * next statement, which also grants or refuses them. When the store is unavailable, each gateway enforces its equal
 * share of the limit.
 */
export class SharedRequests extends LimitSync<Bucket> {
  readonly #store: Pick<Store, 'run'>;
  readonly #now: () => number | null;

  constructor({ store, clock, ...parts }: SharedRequestsParts) {
    super(parts, cleanUpIntervalMs);
    this.#store = store;
    this.#now = clock ?? (() => null);
  }

  /** Number of equal shares that a limit is divided into; this gateway owns one. */
  get shares(): number {
    return this.isIsolated ? (this.gatewayCount ?? 1) : 1;
  }

  /** Whether a request may be accepted without the store. */
  covers({ unreported, max }: Bucket): boolean {
    if (this.isIsolated) return true;
    const { gatewayCount } = this;
    return gatewayCount !== undefined && unreported + 1 <= (max * maxUnreportedShare) / gatewayCount;
  }

  /** Counts an accepted request. */
  accepted(bucket: Bucket): void {
    bucket.unreported += 1;
    this.schedule(bucket, reportDelayMs);
  }

  /** Reverts a granted request that another limit refused. */
  refund(bucket: Bucket): void {
    bucket.remaining += 1;
    bucket.unreported -= 1;
    this.schedule(bucket, reportDelayMs);
  }

  protected override async synchronize(batch: readonly Bucket[]): Promise<number> {
    const startedAt = this.timers.monotonic();
    const draws = batch.map(({ subject, max, unreported, pending }) => {
      return { subject, max, used: unreported, wanted: pending.length };
    });
    const { drawn, gateways } = await this.#store.run('drawRequests', { draws, now: this.#now() });
    const results = new Map(drawn.map((one) => [one.subject, one]));
    for (const [index, bucket] of batch.entries())
      this.#update(bucket, draws[index]?.used ?? 0, results.get(bucket.subject), startedAt);
    return gateways;
  }

  #update(bucket: Bucket, reported: number, drawn: Drawn | undefined, startedAt: number): void {
    const { given = 0, remaining = 0 } = drawn ?? {};
    const pending = bucket.pending.splice(0);
    // Requests that were decided locally in the meantime do not use their grant.
    const unused = Math.max(0, given - pending.length);
    bucket.unreported -= reported + unused;
    bucket.remaining = remaining - bucket.unreported;
    bucket.filledAt = startedAt;
    if (bucket.unreported !== 0) this.schedule(bucket, reportDelayMs);
    for (const [index, respond] of pending.entries()) respond(index < given);
  }

  protected override acquireLocally(bucket: Bucket): boolean {
    bucket.fill(this.timers.monotonic(), this.shares);
    if (bucket.remaining < 1) return false;
    bucket.remaining -= 1;
    this.accepted(bucket);
    return true;
  }

  protected override cleanUp(): Promise<void> {
    return this.#store.run('sweepAllowances', { now: this.#now() });
  }
}
