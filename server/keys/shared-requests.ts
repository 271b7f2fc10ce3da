import type { Timers } from '../lib/timers.ts';
import type { Drawn } from '../store/commands/allowances.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Bucket } from './bucket.ts';
import { Exchange } from './exchange.ts';

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
const sweepEvery = 60_000;

/**
 * Keeps one limit of requests over several gateways. What passes is told to the others a few times a second, for all
 * keys in one statement. Until it is, a gateway lets only a small part of the limit pass; requests beyond that wait
 * for the next statement, which also says how many of them may pass. While the store is away, each gateway keeps to its
 * equal share of the limit.
 */
export class SharedRequests {
  readonly #parts: SharedRequestsParts;
  readonly #exchange: Exchange<Bucket>;

  constructor(parts: SharedRequestsParts) {
    const { store, timers, logger } = parts;
    this.#parts = parts;
    this.#exchange = new Exchange({
      timers,
      logger,
      tell: (batch) => this.#tell(batch),
      decide: (bucket, answer) => answer(this.#passAlone(bucket)),
      tidy: () => store.run('sweepAllowances', { now: this.#now() }),
      tidyEveryMs: sweepEvery,
    });
  }

  start(): void {
    this.#exchange.start();
  }

  stop(): Promise<void> {
    return this.#exchange.stop();
  }

  /** So many parts an allowance has, of which one is for this gateway. */
  get parts(): number {
    const { away, gateways = 1 } = this.#exchange;
    return away ? gateways : 1;
  }

  /** Whether a request may pass without asking. */
  covers({ untold, max }: Bucket): boolean {
    const { away, gateways } = this.#exchange;
    return away || (gateways !== undefined && untold + 1 <= (max * untoldPart) / gateways);
  }

  passed(bucket: Bucket): void {
    bucket.untold += 1;
    this.#exchange.plan(bucket, tellAfter);
  }

  /** A request that was to pass did not. */
  giveBack(bucket: Bucket): void {
    bucket.left += 1;
    bucket.untold -= 1;
    this.#exchange.plan(bucket, tellAfter);
  }

  /** Waits until it is known whether one more request may pass. */
  ask(bucket: Bucket): Promise<boolean> {
    return this.#exchange.ask(bucket);
  }

  #now(): number | null {
    return this.#parts.clock?.() ?? null;
  }

  async #tell(batch: readonly Bucket[]): Promise<number> {
    const { store, timers } = this.#parts;
    const startedAt = timers.monotonic();
    const draws = batch.map(({ tokenId, max, untold, asked }) => {
      return { tokenId, max, used: untold, wanted: asked.length };
    });
    const { drawn, gateways } = await store.run('drawRequests', { draws, now: this.#now() });
    const results = new Map(drawn.map((one) => [one.tokenId, one]));
    for (const [index, bucket] of batch.entries())
      this.#learn(bucket, draws[index]?.used ?? 0, results.get(bucket.tokenId), startedAt);
    return gateways;
  }

  #learn(bucket: Bucket, used: number, drawn: Drawn | undefined, startedAt: number): void {
    const { given = 0, remaining = 0 } = drawn ?? {};
    const asked = bucket.asked.splice(0);
    // Those that were let pass or refused meanwhile do not need what they were given.
    const spare = Math.max(0, given - asked.length);
    bucket.untold -= used + spare;
    bucket.left = remaining - bucket.untold;
    bucket.at = startedAt;
    if (bucket.untold !== 0) this.#exchange.plan(bucket, tellAfter);
    for (const [index, answer] of asked.entries()) answer(index < given);
  }

  #passAlone(bucket: Bucket): boolean {
    bucket.fill(this.#parts.timers.monotonic(), this.parts);
    if (bucket.left < 1) return false;
    bucket.left -= 1;
    this.passed(bucket);
    return true;
  }
}
