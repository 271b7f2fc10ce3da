import { type Alarm, type Timers, yieldToEventLoop } from '../lib/timers.ts';
import { ClaimLoop } from '../store/claim-loop.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Receives whether a request for one more unit of a limit was granted. */
export type Respond = (isGranted: boolean) => void;

/** A count that several gateways share. */
export interface SharedCounter {
  /** Requests that wait for the next synchronization. */
  waiting: Respond[];
  /** Requests that are part of the running synchronization. */
  pending: Respond[];
}

export interface LimitSyncParts {
  timers: Timers;
  logger: Logger;
}

/** Least time between two synchronizations, in milliseconds. */
const minGapMs = 25;
/** Longest time that a request waits for a synchronization, in milliseconds. */
const maxWaitMs = 1_000;
const maxBatch = 1_000;

/**
 * Synchronizes counters with the other gateways in batches. When the store is unavailable or slow, the gateway decides
 * on its own until the store responds again.
 */
export abstract class LimitSync<Counter extends SharedCounter> {
  protected readonly timers: Timers;
  readonly #loop: ClaimLoop;
  readonly #cleanUpIntervalMs: number;
  readonly #changed = new Set<Counter>();
  #batch: readonly Counter[] = [];
  /** Undefined before the first synchronization. */
  #gatewayCount: number | undefined;
  #isIsolated = false;
  #failing = false;
  #waitLimit: Alarm | undefined;
  #cleanedUpAt: number;

  constructor({ timers, logger }: LimitSyncParts, cleanUpIntervalMs: number) {
    this.timers = timers;
    this.#cleanUpIntervalMs = cleanUpIntervalMs;
    this.#cleanedUpAt = timers.monotonic();
    this.#loop = new ClaimLoop({
      timers,
      gapMs: minGapMs,
      idleMs: cleanUpIntervalMs,
      claim: () => this.#run(),
      onError: (error) => {
        if (!this.#failing) logger.error({ err: error }, 'limits could not be shared among gateways');
        this.#failing = true;
      },
    });
  }

  /** Writes a batch to the store and responds to its pending requests. Returns the number of gateways. */
  protected abstract synchronize(batch: readonly Counter[]): Promise<number>;

  /** Acquires a unit without the store. Returns whether it was granted. */
  protected abstract acquireLocally(counter: Counter): boolean;

  protected abstract cleanUp(): Promise<void> | void;

  start(): void {
    this.#loop.start();
  }

  async stop(): Promise<void> {
    this.#isolate();
    await this.#loop.stop();
  }

  /** Whether the gateway decides on its own because the store does not respond. */
  get isIsolated(): boolean {
    return this.#isIsolated;
  }

  get gatewayCount(): number | undefined {
    return this.#gatewayCount;
  }

  /** Whether a change of the counter is not synchronized yet. */
  isScheduled(counter: Counter): boolean {
    return this.#changed.has(counter) || this.#batch.includes(counter);
  }

  /** Synchronizes the counter within `ms` milliseconds. */
  schedule(counter: Counter, ms: number): void {
    this.#changed.add(counter);
    this.#loop.wake(this.timers.monotonic() + ms);
  }

  /** Requests one more unit and waits up to 1 s for the store. Resolves with whether it was granted. */
  request(counter: Counter): Promise<boolean> {
    return new Promise((resolve) => {
      counter.waiting.push(resolve);
      this.#waitLimit ??= this.#startWaitLimit();
      this.schedule(counter, 0);
    });
  }

  /** Requests one more unit of each counter. Resolves with the counters that refused it. */
  async requestAll(counters: readonly Counter[]): Promise<Counter[]> {
    const granted = await Promise.all(counters.map((counter) => this.request(counter)));
    return counters.filter((_, index) => granted[index] === false);
  }

  /** Returns the time of the next run, by the monotonic clock. */
  async #run(): Promise<number> {
    const startedAt = this.timers.monotonic();
    if (startedAt - this.#cleanedUpAt >= this.#cleanUpIntervalMs) {
      this.#cleanedUpAt = startedAt;
      await this.cleanUp();
    }
    const batch = [...this.#changed].slice(0, maxBatch);
    if (batch.length === 0) return Number.POSITIVE_INFINITY;
    for (const counter of batch) {
      this.#changed.delete(counter);
      counter.pending = counter.waiting.splice(0);
    }
    this.#batch = batch;
    try {
      this.#gatewayCount = await this.synchronize(batch);
    } catch (error) {
      for (const counter of batch) this.#changed.add(counter);
      this.#isolate();
      throw error;
    } finally {
      this.#batch = [];
    }
    this.#reconnect();
    return batch.length === maxBatch ? startedAt : Number.POSITIVE_INFINITY;
  }

  #isolate(): void {
    this.#isIsolated = true;
    this.#waitLimit?.cancel();
    this.#waitLimit = undefined;
    for (const counter of new Set([...this.#batch, ...this.#changed]))
      for (const respond of [...counter.pending.splice(0), ...counter.waiting.splice(0)])
        respond(this.acquireLocally(counter));
  }

  #reconnect(): void {
    this.#isIsolated = false;
    this.#failing = false;
    this.#waitLimit?.cancel();
    const isAwaited = [...this.#changed].some(({ waiting }) => waiting.length > 0);
    this.#waitLimit = isAwaited ? this.#startWaitLimit() : undefined;
  }

  #startWaitLimit(): Alarm {
    const alarm: Alarm = this.timers.alarm(maxWaitMs, () => {
      // If this process was paused, the response may already be in the event queue.
      void yieldToEventLoop().then(() => {
        if (this.#waitLimit === alarm) this.#isolate();
      });
    });
    return alarm;
  }
}
