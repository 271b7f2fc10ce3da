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

/** Between two rounds, in milliseconds: the entries written meanwhile are added up with each look at the figures. */
const every = 10_000;
/** Entries at a time, so that no transaction is long, and the pause until the next ones, in milliseconds. */
const batch = 1_000;
const pauseMs = 50;

/** Adds the entries of the request log to the figures that outlive them. */
export class RollUp {
  readonly #parts: RollUpParts;
  readonly #periodicTask: PeriodicTask;
  /** Where the log ended at some time; kept until every transaction of that time is over. */
  #end: LogEnd | undefined;

  constructor(parts: RollUpParts) {
    this.#parts = parts;
    this.#periodicTask = new PeriodicTask(parts.timers);
  }

  start(): void {
    this.#periodicTask.start(
      every,
      () => this.run(),
      (error) => {
        // An absent store is logged once, by itself.
        if (!(error instanceof StoreUnavailable))
          this.#parts.logger.error({ err: error }, 'the log could not be added to the figures');
      },
    );
  }

  stop(): Promise<void> {
    return this.#periodicTask.stop();
  }

  /** Adds all that there is, and says how many entries; another gateway may be at it, or transactions under way. */
  async run(): Promise<number> {
    const { store } = this.#parts;
    const end = (this.#end ??= await readLogEnd(store.read));
    for (let all = 0; ; ) {
      const rolled = await store.run('rollUpLog', { end, limit: batch });
      if (rolled === 'lost') this.#end = undefined;
      if (typeof rolled === 'string') return all;
      all += rolled;
      if (rolled < batch) {
        this.#end = undefined;
        return all;
      }
      if (this.#periodicTask.stopped) return all;
      await this.#periodicTask.pause(pauseMs);
    }
  }
}
