import { ClaimLoop } from '../runtime/claim-loop.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Alarm, Timers } from '../runtime/timers.ts';
import type { Drawn } from '../store/commands/allowances.ts';
import type { Store } from '../store/store.ts';
import type { Bucket } from './bucket.ts';

export interface SharedRequestsParts {
  store: Pick<Store, 'run'>;
  timers: Timers;
  logger: Logger;
  /** Epoch milliseconds; left out: by the database's clock. */
  clock?: () => number;
}

/** Part of a limit that all gateways together may let pass before they tell each other. */
const untoldPart = 0.04;
/** What has passed is told so soon, in milliseconds. */
const tellAfter = 250;
/** Least milliseconds between two exchanges, however many requests wait for one. */
const gapMs = 25;
/** So long a request waits for an exchange, in milliseconds. */
const patience = 500;
/** So many allowances are exchanged at a time. */
const batchSize = 1_000;
const sweepEvery = 60_000;

/**
 * Keeps one limit of requests over several gateways. What passes is told to the others a few times a second, for all
 * keys in one statement. Until it is, a gateway lets only a small part of the limit pass; requests beyond that wait
 * for the next statement, which also says how many of them may pass. While the store is away, each gateway keeps to its
 * equal share of the limit.
 */
export class SharedRequests {
  readonly #parts: SharedRequestsParts;
  readonly #loop: ClaimLoop;
  /** Those to be exchanged, and those that are being. */
  readonly #changed = new Set<Bucket>();
  #batch: readonly Bucket[] = [];
  /** Undefined before the first exchange. */
  #gateways: number | undefined;
  #away = false;
  #failing = false;
  #patience: Alarm | undefined;
  #sweptAt: number;

  constructor(parts: SharedRequestsParts) {
    this.#parts = parts;
    this.#sweptAt = parts.timers.monotonic();
    this.#loop = new ClaimLoop({
      timers: parts.timers,
      gapMs,
      idleMs: sweepEvery,
      claim: () => this.#exchange(),
      failed: (error) => {
        if (!this.#failing) parts.logger.error({ err: error }, 'limits could not be shared among gateways');
        this.#failing = true;
      },
    });
  }

  start(): void {
    this.#loop.start();
  }

  async stop(): Promise<void> {
    this.#goAlone();
    await this.#loop.stop();
  }

  /** So many parts an allowance has, of which one is for this gateway. */
  get parts(): number {
    return this.#away ? (this.#gateways ?? 1) : 1;
  }

  /** Whether a request may pass without asking. */
  covers({ untold, max }: Bucket): boolean {
    if (this.#away) return true;
    return this.#gateways !== undefined && untold + 1 <= (max * untoldPart) / this.#gateways;
  }

  passed(bucket: Bucket): void {
    bucket.untold += 1;
    this.#plan(bucket, tellAfter);
  }

  /** A request that was to pass did not. */
  giveBack(bucket: Bucket): void {
    bucket.left += 1;
    bucket.untold -= 1;
    this.#plan(bucket, tellAfter);
  }

  /** Waits until it is known whether one more request may pass. */
  ask(bucket: Bucket): Promise<boolean> {
    return new Promise((resolve) => {
      bucket.waiting.push(resolve);
      this.#patience ??= this.#parts.timers.alarm(patience, () => this.#goAlone());
      this.#plan(bucket, 0);
    });
  }

  #plan(bucket: Bucket, ms: number): void {
    this.#changed.add(bucket);
    this.#loop.wake(this.#parts.timers.monotonic() + ms);
  }

  /** Gives the time of the next exchange. */
  async #exchange(): Promise<number> {
    const { store, timers, clock } = this.#parts;
    const startedAt = timers.monotonic();
    const now = clock?.() ?? null;
    const batch = [...this.#changed].slice(0, batchSize);
    if (batch.length > 0) {
      const draws = batch.map((bucket) => {
        this.#changed.delete(bucket);
        bucket.asked = bucket.waiting.splice(0);
        const { tokenId, max, untold, asked } = bucket;
        return { tokenId, max, used: untold, wanted: asked.length };
      });
      this.#batch = batch;
      try {
        const { drawn, gateways } = await store.run('drawRequests', { draws, now });
        this.#gateways = gateways;
        const results = new Map(drawn.map((one) => [one.tokenId, one]));
        for (const [index, bucket] of batch.entries())
          this.#learn(bucket, draws[index]?.used ?? 0, results.get(bucket.tokenId), startedAt);
      } catch (error) {
        for (const bucket of batch) this.#changed.add(bucket);
        this.#goAlone();
        throw error;
      } finally {
        this.#batch = [];
      }
      this.#comeBack();
    }
    if (startedAt - this.#sweptAt >= sweepEvery) {
      await store.run('sweepAllowances', { now });
      this.#sweptAt = startedAt;
    }
    return batch.length === batchSize ? startedAt : Number.POSITIVE_INFINITY;
  }

  #learn(bucket: Bucket, used: number, drawn: Drawn | undefined, startedAt: number): void {
    const { given = 0, remaining = 0 } = drawn ?? {};
    const asked = bucket.asked.splice(0);
    // Those that were let pass or refused meanwhile do not need what they were given.
    const spare = Math.max(0, given - asked.length);
    bucket.untold -= used + spare;
    bucket.left = remaining - bucket.untold;
    bucket.at = startedAt;
    if (bucket.untold !== 0) this.#plan(bucket, tellAfter);
    for (const [index, resolve] of asked.entries()) resolve(index < given);
  }

  /** Lets nobody wait any more: what passes is decided here, until the store answers again. */
  #goAlone(): void {
    this.#away = true;
    this.#patience?.cancel();
    this.#patience = undefined;
    const now = this.#parts.timers.monotonic();
    for (const bucket of new Set([...this.#batch, ...this.#changed])) {
      const waiting = [...bucket.asked.splice(0), ...bucket.waiting.splice(0)];
      if (waiting.length > 0) bucket.fill(now, this.parts);
      for (const resolve of waiting) {
        const passes = bucket.left >= 1;
        if (passes) {
          bucket.left -= 1;
          this.passed(bucket);
        }
        resolve(passes);
      }
    }
  }

  #comeBack(): void {
    this.#away = false;
    this.#failing = false;
    this.#patience?.cancel();
    const waits = [...this.#changed].some(({ waiting }) => waiting.length > 0);
    this.#patience = waits ? this.#parts.timers.alarm(patience, () => this.#goAlone()) : undefined;
  }
}
