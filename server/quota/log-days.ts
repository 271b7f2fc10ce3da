import { PeriodicTask } from '../lib/periodic-task.ts';
import type { Timers } from '../lib/timers.ts';
import { StoreUnavailable } from '../store/availability.ts';
import { dayOf } from '../store/log-days.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface LogDaysParts {
  store: Pick<Store, 'run' | 'engine'>;
  logger: Logger;
  /** Epoch milliseconds. */
  clock: () => number;
  timers: Timers;
}

/** Partitions are created for this number of days ahead, in case long transactions block their creation. */
const daysAhead = 7;
const intervalMs = 600_000;

/** Creates daily partitions of the request log on PostgreSQL. Entries without a partition are stored in a default one. */
export class LogDays {
  readonly #parts: LogDaysParts;
  readonly #periodicTask: PeriodicTask;

  constructor(parts: LogDaysParts) {
    this.#parts = parts;
    this.#periodicTask = new PeriodicTask(parts.timers);
  }

  /** Creates partitions now and periodically. Does nothing on SQLite, which has no partitions. */
  async start(): Promise<void> {
    if (this.#parts.store.engine === 'sqlite') return;
    const onError = (error: unknown) => {
      // The store logs its own absence once.
      if (!(error instanceof StoreUnavailable))
        this.#parts.logger.error({ err: error }, 'partitions of the request log could not be created');
    };
    await this.run().catch(onError);
    this.#periodicTask.start(intervalMs, () => this.run(), onError);
  }

  stop(): Promise<void> {
    return this.#periodicTask.stop();
  }

  /** Creates missing partitions from yesterday on, since settlements of yesterday may still be pending. */
  async run(): Promise<void> {
    const { store, clock } = this.#parts;
    const today = dayOf(clock());
    await store.run('addLogDays', { first: today - 1, last: today + daysAhead });
  }
}
