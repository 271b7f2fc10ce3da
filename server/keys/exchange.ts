import { type Alarm, type Timers, yieldToEventLoop } from '../lib/timers.ts';
import { ClaimLoop } from '../store/claim-loop.ts';
import type { Logger } from '../telemetry/logger.ts';

export type Answer = (given: boolean) => void;

/** Something that several gateways keep count of together. */
export interface Shared {
  /** Who waits until the other gateways have been asked. */
  waiting: Answer[];
  /** Those for whom they are being asked. */
  asked: Answer[];
}

export interface ExchangeParts<Item extends Shared> {
  timers: Timers;
  logger: Logger;
  /** Tells the store of items and answers those who asked; says how many gateways there are. */
  tell: (batch: readonly Item[]) => Promise<number>;
  /** Answers somebody without the store. */
  decide: (item: Item, answer: Answer) => void;
  /** What is done now and then, in milliseconds. */
  tidy: () => Promise<void> | void;
  tidyEveryMs: number;
}

/** Least milliseconds between two exchanges, however many wait for one. */
const gapMs = 25;
/** So long somebody waits for an exchange, in milliseconds. */
const patience = 1_000;
/** So many items are exchanged at a time. */
const batchSize = 1_000;

/**
 * Tells the other gateways of changes, in batches, and asks for those who wait. Nobody waits for a store that is away
 * or slow: until it answers again, each gateway decides for itself.
 */
export class Exchange<Item extends Shared> {
  readonly #parts: ExchangeParts<Item>;
  readonly #loop: ClaimLoop;
  readonly #changed = new Set<Item>();
  #batch: readonly Item[] = [];
  /** Undefined before the first exchange. */
  #gateways: number | undefined;
  #away = false;
  #failing = false;
  #patience: Alarm | undefined;
  #tidiedAt: number;

  constructor(parts: ExchangeParts<Item>) {
    this.#parts = parts;
    this.#tidiedAt = parts.timers.monotonic();
    this.#loop = new ClaimLoop({
      timers: parts.timers,
      gapMs,
      idleMs: parts.tidyEveryMs,
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
    this.#goAlone();
    await this.#loop.stop();
  }

  /** Whether the store cannot be asked. */
  get away(): boolean {
    return this.#away;
  }

  get gateways(): number | undefined {
    return this.#gateways;
  }

  /** Whether a change of the item is still to be told. */
  has(item: Item): boolean {
    return this.#changed.has(item) || this.#batch.includes(item);
  }

  /** Tells of a change of the item in so many milliseconds at the latest. */
  plan(item: Item, ms: number): void {
    this.#changed.add(item);
    this.#loop.wake(this.#parts.timers.monotonic() + ms);
  }

  /** Waits for an answer about the item, for a second at the most. */
  ask(item: Item): Promise<boolean> {
    return new Promise((resolve) => {
      item.waiting.push(resolve);
      this.#patience ??= this.#beginPatience();
      this.plan(item, 0);
    });
  }

  /** Gives the time of the next exchange. */
  async #run(): Promise<number> {
    const startedAt = this.#parts.timers.monotonic();
    if (startedAt - this.#tidiedAt >= this.#parts.tidyEveryMs) {
      this.#tidiedAt = startedAt;
      await this.#parts.tidy();
    }
    const batch = [...this.#changed].slice(0, batchSize);
    if (batch.length === 0) return Number.POSITIVE_INFINITY;
    for (const item of batch) {
      this.#changed.delete(item);
      item.asked = item.waiting.splice(0);
    }
    this.#batch = batch;
    try {
      this.#gateways = await this.#parts.tell(batch);
    } catch (error) {
      for (const item of batch) this.#changed.add(item);
      this.#goAlone();
      throw error;
    } finally {
      this.#batch = [];
    }
    this.#comeBack();
    return batch.length === batchSize ? startedAt : Number.POSITIVE_INFINITY;
  }

  #goAlone(): void {
    this.#away = true;
    this.#patience?.cancel();
    this.#patience = undefined;
    for (const item of new Set([...this.#batch, ...this.#changed]))
      for (const answer of [...item.asked.splice(0), ...item.waiting.splice(0)])
        this.#parts.decide(item, answer);
  }

  #comeBack(): void {
    this.#away = false;
    this.#failing = false;
    this.#patience?.cancel();
    const waits = [...this.#changed].some(({ waiting }) => waiting.length > 0);
    this.#patience = waits ? this.#beginPatience() : undefined;
  }

  #beginPatience(): Alarm {
    const alarm: Alarm = this.#parts.timers.alarm(patience, () => {
      // What stood still may have been this process, and the answer may be there already.
      void yieldToEventLoop().then(() => {
        if (this.#patience === alarm) this.#goAlone();
      });
    });
    return alarm;
  }
}
