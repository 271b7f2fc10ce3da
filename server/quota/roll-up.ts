import { PeriodicTask } from '../lib/periodic-task.ts';
import type { Timers } from '../lib/timers.ts';
import { StoreUnavailable } from '../store/availability.ts';
import type { LogEnd } from '../store/commands/figures.ts';
import { readLogEnd } from '../store/queries/figures.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface RollUpParts {
  store: Pick<Store, 'run' | 'read'>;
  logger: Logger;
  timers: Timers;
}

/** Interval of roll-ups, in milliseconds. Reports add up the entries written since the last one. */
const intervalMs = 10_000;
/** Entries in one transaction, so that it stays short, and the pause between transactions. */
const batchSize = 1_000;
const pauseMs = 50;

/** Adds entries of the request log to usage figures, which are kept longer. */
export class RollUp {
  readonly #parts: RollUpParts;
  readonly #periodicTask: PeriodicTask;
  /** End of the log at an earlier time, used until every transaction of that time has ended. */
  #end: LogEnd | undefined;

  constructor(parts: RollUpParts) {
    this.#parts = parts;
    this.#periodicTask = new PeriodicTask(parts.timers);
  }

  start(): void {
    this.#periodicTask.start(
      intervalMs,
      () => this.run(),
      (error) => {
        // The store logs its own absence once.
        if (!(error instanceof StoreUnavailable))
          this.#parts.logger.error({ err: error }, 'the log could not be added to the figures');
      },
    );
  }

  stop(): Promise<void> {
    return this.#periodicTask.stop();
  }

  /** Rolls up all entries and returns their number. Stops early if another gateway rolls up or a transaction is open. */
  async run(): Promise<number> {
    const { store } = this.#parts;
    const end = (this.#end ??= await readLogEnd(store.read));
    for (let total = 0; ; ) {
      const rolled = await store.run('rollUpLog', { end, limit: batchSize });
      if (rolled === 'lost') this.#end = undefined;
      if (typeof rolled === 'string') return total;
      total += rolled;
      if (rolled < batchSize) {
        this.#end = undefined;
        return total;
      }
      if (this.#periodicTask.stopped) return total;
      await this.#periodicTask.pause(pauseMs);
    }
  }
}
