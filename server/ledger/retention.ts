import type { Logger } from '../runtime/logger.ts';
import type { Timers } from '../runtime/timers.ts';
import type { Store } from '../store/store.ts';

export interface RetentionParts {
  store: Pick<Store, 'run'>;
  logger: Logger;
  /** Epoch milliseconds. */
  clock: () => number;
  timers: Timers;
  /** How long closed reservations and their log entries are kept. */
  keepMs: number;
}

/** Between two sweeps, in milliseconds. */
const sweepEvery = 600_000;
/** At a time, so that no transaction is long, and the pause until the next ones, in milliseconds. */
const batch = 200;
const pauseMs = 50;

/** Sweeps books and log of what is older than it is to be, and returns what deleted keys have left. */
export class Retention {
  readonly #parts: RetentionParts;
  #round: Promise<void> = Promise.resolve();
  #stopped = false;
  #wake: () => void = () => {};

  constructor(parts: RetentionParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#round = this.#rounds();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake();
    await this.#round;
  }

  /** Sweeps all that there is, and says how many reservations went. */
  async run(): Promise<number> {
    const { store, clock, timers, keepMs } = this.#parts;
    // A calendar that has been set forward makes nothing old.
    const now = Math.min(clock(), timers.monotonic());
    const closedBefore = now - keepMs;
    const swept = await this.#inBatches(() => store.run('sweepBooks', { closedBefore, limit: batch }));
    await this.#inBatches(() => store.run('returnLeftovers', { limit: batch, now: clock() }));
    return swept;
  }

  async #rounds(): Promise<void> {
    while (!this.#stopped) {
      await this.#pause(sweepEvery);
      if (this.#stopped) return;
      await this.run().catch((error: unknown) =>
        this.#parts.logger.error({ err: error }, 'old books could not be swept'),
      );
    }
  }

  async #inBatches(sweep: () => Promise<number>): Promise<number> {
    let all = 0;
    for (;;) {
      const gone = await sweep();
      all += gone;
      if (gone < batch || this.#stopped) return all;
      await this.#pause(pauseMs);
    }
  }

  /** Until the time is over, or all is to stop. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const alarm = this.#parts.timers.alarm(ms, resolve);
      this.#wake = () => {
        alarm.cancel();
        resolve();
      };
    });
  }
}
