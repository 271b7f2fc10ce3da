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

/** Days from today on that have a partition, so that none is missing if something keeps the log busy for days. */
const ahead = 7;
/** Between two rounds, in milliseconds. */
const every = 600_000;

/** Gives the log on PostgreSQL its partitions ahead of time. The entries of a day that has none are kept too. */
export class LogDays {
  readonly #parts: LogDaysParts;
  readonly #periodicTask: PeriodicTask;

  constructor(parts: LogDaysParts) {
    this.#parts = parts;
    this.#periodicTask = new PeriodicTask(parts.timers);
  }

  /** Does so at once, and then again and again; with SQLite, whose log has no partitions, never. */
  async start(): Promise<void> {
    if (this.#parts.store.engine === 'sqlite') return;
    const failed = (error: unknown) => {
      // An absent store is logged once, by itself.
      if (!(error instanceof StoreUnavailable))
        this.#parts.logger.error({ err: error }, 'the log could not be given its next days');
    };
    await this.run().catch(failed);
    this.#periodicTask.start(every, () => this.run(), failed);
  }

  stop(): Promise<void> {
    return this.#periodicTask.stop();
  }

  /** Adds what is missing, from yesterday on: calls that ended then may not be written yet. */
  async run(): Promise<void> {
    const { store, clock } = this.#parts;
    const today = dayOf(clock());
    await store.run('addLogDays', { first: today - 1, last: today + ahead });
  }
}
