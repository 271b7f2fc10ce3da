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

export interface LimitSyncParts<Counter extends SharedCounter> {
  timers: Timers;
  logger: Logger;
  /** Writes a batch to the store and responds to its pending requests. Returns the number of gateways. */
  synchronize: (batch: readonly Counter[]) => Promise<number>;
  /** Responds to a request without the store. */
  decideLocally: (counter: Counter, respond: Respond) => void;
  cleanUp: () => Promise<void> | void;
  cleanUpIntervalMs: number;
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
export class LimitSync<Counter extends SharedCounter> {
  readonly #parts: LimitSyncParts<Counter>;
  readonly #loop: ClaimLoop;
  readonly #changed = new Set<Counter>();
  #batch: readonly Counter[] = [];
  /** Undefined before the first synchronization. */
  #gatewayCount: number | undefined;
  #isIsolated = false;
  #failing = false;
  #waitLimit: Alarm | undefined;
  #cleanedUpAt: number;

  constructor(parts: LimitSyncParts<Counter>) {
    this.#parts = parts;
    this.#cleanedUpAt = parts.timers.monotonic();
    this.#loop = new ClaimLoop({
      timers: parts.timers,
      gapMs: minGapMs,
      idleMs: parts.cleanUpIntervalMs,
      claim: () => this.#run(),
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
    this.#loop.wake(this.#parts.timers.monotonic() + ms);
  }

  /** Requests one more unit and waits up to 1 s for the store. Resolves with whether it was granted. */
  request(counter: Counter): Promise<boolean> {
    return new Promise((resolve) => {
      counter.waiting.push(resolve);
      this.#waitLimit ??= this.#startWaitLimit();
      this.schedule(counter, 0);
    });
  }

  /** Returns the time of the next run, by the monotonic clock. */
  async #run(): Promise<number> {
    const startedAt = this.#parts.timers.monotonic();
    if (startedAt - this.#cleanedUpAt >= this.#parts.cleanUpIntervalMs) {
      this.#cleanedUpAt = startedAt;
      await this.#parts.cleanUp();
    }
    const batch = [...this.#changed].slice(0, maxBatch);
    if (batch.length === 0) return Number.POSITIVE_INFINITY;
    for (const counter of batch) {
      this.#changed.delete(counter);
      counter.pending = counter.waiting.splice(0);
    }
    this.#batch = batch;
    try {
      this.#gatewayCount = await this.#parts.synchronize(batch);
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
        this.#parts.decideLocally(counter, respond);
  }

  #reconnect(): void {
    this.#isIsolated = false;
    this.#failing = false;
    this.#waitLimit?.cancel();
    const isAwaited = [...this.#changed].some(({ waiting }) => waiting.length > 0);
    this.#waitLimit = isAwaited ? this.#startWaitLimit() : undefined;
  }

  #startWaitLimit(): Alarm {
    const alarm: Alarm = this.#parts.timers.alarm(maxWaitMs, () => {
      // If this process was paused, the response may already be in the event queue.
      void yieldToEventLoop().then(() => {
        if (this.#waitLimit === alarm) this.#isolate();
      });
    });
    return alarm;
  }
}
