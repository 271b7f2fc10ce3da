import type { Timers } from '../lib/timers.ts';
import type { Drawn } from '../store/commands/allowances.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Bucket } from './bucket.ts';
import { LimitSync } from './limit-sync.ts';

export interface SharedRequestsParts {
  store: Pick<Store, 'run'>;
  timers: Timers;
  logger: Logger;
  /** Epoch milliseconds. Default: the database's clock. */
  clock?: () => number;
}

/** Share of a limit that all gateways together may accept before they report it. */
const maxUnreportedShare = 0.04;
/** Longest time before accepted requests are reported, in milliseconds. */
const reportDelayMs = 250;
const cleanUpIntervalMs = 60_000;

/**
 * Enforces request limits across gateways. Each gateway reports accepted requests a few times a second, for all keys in
 * one statement, and accepts only a small share of a limit before it reports. Requests beyond that share wait for the
 * next statement, which also grants or refuses them. When the store is unavailable, each gateway enforces its equal
 * share of the limit.
 */
export class SharedRequests {
  readonly #parts: SharedRequestsParts;
  readonly #sync: LimitSync<Bucket>;

  constructor(parts: SharedRequestsParts) {
    const { store, timers, logger } = parts;
    this.#parts = parts;
    this.#sync = new LimitSync({
      timers,
      logger,
      synchronize: (batch) => this.#synchronize(batch),
      decideLocally: (bucket, respond) => respond(this.#acceptLocally(bucket)),
      cleanUp: () => store.run('sweepAllowances', { now: this.#now() }),
      cleanUpIntervalMs,
    });
  }

  start(): void {
    this.#sync.start();
  }

  stop(): Promise<void> {
    return this.#sync.stop();
  }

  /** Number of equal shares that a limit is divided into; this gateway owns one. */
  get shares(): number {
    const { isIsolated, gatewayCount = 1 } = this.#sync;
    return isIsolated ? gatewayCount : 1;
  }

  /** Whether a request may be accepted without the store. */
  covers({ unreported, max }: Bucket): boolean {
    const { isIsolated, gatewayCount } = this.#sync;
    return (
      isIsolated ||
      (gatewayCount !== undefined && unreported + 1 <= (max * maxUnreportedShare) / gatewayCount)
    );
  }

  /** Counts an accepted request. */
  accepted(bucket: Bucket): void {
    bucket.unreported += 1;
    this.#sync.schedule(bucket, reportDelayMs);
  }

  /** Reverts a granted request that another limit refused. */
  refund(bucket: Bucket): void {
    bucket.remaining += 1;
    bucket.unreported -= 1;
    this.#sync.schedule(bucket, reportDelayMs);
  }

  /** Resolves with whether one more request is granted. */
  request(bucket: Bucket): Promise<boolean> {
    return this.#sync.request(bucket);
  }

  #now(): number | null {
    return this.#parts.clock?.() ?? null;
  }

  async #synchronize(batch: readonly Bucket[]): Promise<number> {
    const { store, timers } = this.#parts;
    const startedAt = timers.monotonic();
    const draws = batch.map(({ tokenId, max, unreported, pending }) => {
      return { tokenId, max, used: unreported, wanted: pending.length };
    });
    const { drawn, gateways } = await store.run('drawRequests', { draws, now: this.#now() });
    const results = new Map(drawn.map((one) => [one.tokenId, one]));
    for (const [index, bucket] of batch.entries())
      this.#update(bucket, draws[index]?.used ?? 0, results.get(bucket.tokenId), startedAt);
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
    if (bucket.unreported !== 0) this.#sync.schedule(bucket, reportDelayMs);
    for (const [index, respond] of pending.entries()) respond(index < given);
  }

  #acceptLocally(bucket: Bucket): boolean {
    bucket.fill(this.#parts.timers.monotonic(), this.shares);
    if (bucket.remaining < 1) return false;
    bucket.remaining -= 1;
    this.accepted(bucket);
    return true;
  }
}
