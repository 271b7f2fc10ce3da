import { PeriodicTask } from '../lib/periodic-task.ts';
import type { Timers } from '../lib/timers.ts';
import { dayOf, partitionOf } from '../store/log-days.ts';
import { readLogDays } from '../store/queries/log-days.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface RetentionParts {
  store: Pick<Store, 'run' | 'read'>;
  logger: Logger;
  /** Epoch milliseconds. */
  clock: () => number;
  timers: Timers;
  /** Retention of closed entries, in milliseconds. On PostgreSQL a whole day is dropped at once. */
  keepMs: number;
}

const sweepIntervalMs = 600_000;
/** Rows in one transaction, so that it stays short, and the pause between transactions. */
const batchSize = 200;
const pauseMs = 50;

/** Deletes expired rows of the ledger and the request log, and returns leftover quota of deleted keys. */
export class Retention {
  readonly #parts: RetentionParts;
  readonly #periodicTask: PeriodicTask;
  #keepMs: number;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
    this.#periodicTask = new PeriodicTask(parts.timers);
    this.#keepMs = parts.keepMs;
  }

  /** Sets the retention of the sweeps that start from now on. */
  apply(keepMs: number): void {
    this.#keepMs = keepMs;
  }

  start(): void {
    this.#periodicTask.start(
      sweepIntervalMs,
      () => this.run(),
      (error) => this.#parts.logger.error({ err: error }, 'expired rows could not be deleted'),
    );
  }

  stop(): Promise<void> {
    return this.#periodicTask.stop();
  }

  /** Sweeps until nothing is left. Returns the number of deleted calls. */
  async run(): Promise<number> {
    const { store, clock, timers } = this.#parts;
    // The smaller clock, so that a system clock set forward expires nothing.
    const now = Math.min(clock(), timers.monotonic());
    const closedBefore = now - this.#keepMs;
    const swept = await this.#inBatches(() =>
      store.run('sweepReservations', { closedBefore, limit: batchSize }),
    );
    const logged = await this.#inBatches(() => store.run('sweepLog', { closedBefore, limit: batchSize }));
    const ended = { endedBefore: closedBefore, limit: batchSize };
    const dropped = await this.#dropDays(closedBefore);
    await this.#inBatches(() => store.run('sweepVerificationSessions', ended));
    await this.#inBatches(() => store.run('returnLeftovers', { limit: batchSize, now: clock() }));
    return swept + logged + dropped;
  }

  /** Drops expired days of the log. The next sweep drops a day that is in use now. */
  async #dropDays(closedBefore: number): Promise<number> {
    const { store, logger } = this.#parts;
    let total = 0;
    for (const day of await readLogDays(store.read)) {
      if (day >= dayOf(closedBefore) || this.#periodicTask.stopped) return total;
      const calls = await store.run('dropLogDay', { day, closedBefore });
      if (typeof calls === 'string') return total;
      logger.info({ partition: partitionOf(day), calls }, 'a partition of the request log was dropped');
      total += calls;
    }
    return total;
  }

  async #inBatches(sweep: () => Promise<number>): Promise<number> {
    let total = 0;
    for (;;) {
      const deleted = await sweep();
      total += deleted;
      if (deleted < batchSize || this.#periodicTask.stopped) return total;
      await this.#periodicTask.pause(pauseMs);
    }
  }
}
