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
  /** How long the entries of what is over are kept; on PostgreSQL they go with their whole day. */
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
  readonly #periodicTask: PeriodicTask;
  #keepMs: number;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
    this.#periodicTask = new PeriodicTask(parts.timers);
    this.#keepMs = parts.keepMs;
  }

  /** The sweeps that begin from now on keep as much as this. */
  apply(keepMs: number): void {
    this.#keepMs = keepMs;
  }

  start(): void {
    this.#periodicTask.start(
      sweepEvery,
      () => this.run(),
      (error) => this.#parts.logger.error({ err: error }, 'old books could not be swept'),
    );
  }

  stop(): Promise<void> {
    return this.#periodicTask.stop();
  }

  /** Sweeps all that there is, and says how many calls went. */
  async run(): Promise<number> {
    const { store, clock, timers } = this.#parts;
    // A calendar that has been set forward makes nothing old.
    const now = Math.min(clock(), timers.monotonic());
    const closedBefore = now - this.#keepMs;
    const swept = await this.#inBatches(() => store.run('sweepReservations', { closedBefore, limit: batch }));
    const logged = await this.#inBatches(() => store.run('sweepLog', { closedBefore, limit: batch }));
    const ended = { endedBefore: closedBefore, limit: batch };
    const dropped = await this.#dropDays(closedBefore);
    await this.#inBatches(() => store.run('sweepVerificationSessions', ended));
    await this.#inBatches(() => store.run('returnLeftovers', { limit: batch, now: clock() }));
    return swept + logged + dropped;
  }

  /** Those of the log that are older; one that is in use comes with the next sweep. */
  async #dropDays(closedBefore: number): Promise<number> {
    const { store, logger } = this.#parts;
    let all = 0;
    for (const day of await readLogDays(store.read)) {
      if (day >= dayOf(closedBefore) || this.#periodicTask.stopped) return all;
      const calls = await store.run('dropLogDay', { day, closedBefore });
      if (typeof calls === 'string') return all;
      logger.info({ partition: partitionOf(day), calls }, 'a day of the log was dropped');
      all += calls;
    }
    return all;
  }

  async #inBatches(sweep: () => Promise<number>): Promise<number> {
    let all = 0;
    for (;;) {
      const gone = await sweep();
      all += gone;
      if (gone < batch || this.#periodicTask.stopped) return all;
      await this.#periodicTask.pause(pauseMs);
    }
  }
}
