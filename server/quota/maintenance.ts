import { PeriodicTask } from '../lib/periodic-task.ts';
import type { Timers } from '../lib/timers.ts';
import { StoreUnavailable } from '../store/availability.ts';
import type { LogEnd } from '../store/commands/figures.ts';
import { dayOf, partitionOf, readLogDays } from '../store/log-days.ts';
import { readLogEnd } from '../store/queries/figures.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

interface JobParts {
  store: Pick<Store, 'run' | 'read' | 'engine'>;
  logger: Logger;
  timers: Timers;
}

interface ClockedParts extends JobParts {
  /** Epoch milliseconds. */
  clock: () => number;
}

/** Pause between two transactions of a job, in milliseconds. */
const pauseMs = 50;

/** A job that works on the store in short transactions and logs its failures. */
abstract class PeriodicJob<Parts extends JobParts> {
  protected readonly parts: Parts;
  readonly #task: PeriodicTask;
  readonly #intervalMs: number;
  readonly #failureMessage: string;
  protected readonly logsOutages: boolean = false;

  constructor(parts: Parts, intervalMs: number, failureMessage: string) {
    this.parts = parts;
    this.#task = new PeriodicTask(parts.timers);
    this.#intervalMs = intervalMs;
    this.#failureMessage = failureMessage;
  }

  start(): void | Promise<void> {
    this.#task.start(this.#intervalMs, () => this.run(), this.logFailure);
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  abstract run(): Promise<unknown>;

  protected get isStopped(): boolean {
    return this.#task.stopped;
  }

  protected readonly logFailure = (error: unknown): void => {
    // The store logs its own absence once.
    if (this.logsOutages || !(error instanceof StoreUnavailable))
      this.parts.logger.error({ err: error }, this.#failureMessage);
  };

  /** Runs batches until one is not full or the job is stopped. Returns the total number of rows. */
  protected async inBatches(batchSize: number, runBatch: () => Promise<number>): Promise<number> {
    for (let total = 0; ; await this.#task.pause(pauseMs)) {
      const count = await runBatch();
      total += count;
      if (count < batchSize || this.isStopped) return total;
    }
  }
}

/** Partitions are created for this number of days ahead, in case long transactions block their creation. */
const daysAhead = 7;

/** Creates daily partitions of the request log on PostgreSQL. Entries without a partition are stored in a default one. */
export class LogDays extends PeriodicJob<ClockedParts> {
  constructor(parts: ClockedParts) {
    super(parts, 600_000, 'partitions of the request log could not be created');
  }

  /** Creates partitions now and periodically. Does nothing on SQLite, which has no partitions. */
  override async start(): Promise<void> {
    if (this.parts.store.engine === 'sqlite') return;
    await this.run().catch(this.logFailure);
    await super.start();
  }

  /** Creates missing partitions from yesterday on, since settlements of yesterday may still be pending. */
  async run(): Promise<void> {
    const { store, clock } = this.parts;
    const today = dayOf(clock());
    await store.run('addLogDays', { first: today - 1, last: today + daysAhead });
  }
}

export interface RetentionParts extends ClockedParts {
  /** Retention of closed entries, in milliseconds. On PostgreSQL a whole day is dropped at once. */
  keepMs: number;
}

const sweepBatchSize = 200;

/** Deletes expired rows of the ledger and the request log, and returns leftover quota of deleted keys. */
export class Retention extends PeriodicJob<RetentionParts> {
  protected override readonly logsOutages = true;
  #keepMs: number;

  constructor(parts: RetentionParts) {
    super(parts, 600_000, 'expired rows could not be deleted');
    this.#keepMs = parts.keepMs;
  }

  /** Sets the retention of the sweeps that start from now on. */
  apply(keepMs: number): void {
    this.#keepMs = keepMs;
  }

  /** Sweeps until nothing is left. Returns the number of deleted calls. */
  async run(): Promise<number> {
    const { store, clock, timers } = this.parts;
    // The smaller clock, so that a system clock set forward expires nothing.
    const closedBefore = Math.min(clock(), timers.monotonic()) - this.#keepMs;
    const limit = sweepBatchSize;
    const sweep = (run: () => Promise<number>) => this.inBatches(limit, run);
    const swept = await sweep(() => store.run('sweepReservations', { closedBefore, limit }));
    const logged = await sweep(() => store.run('sweepLog', { closedBefore, limit }));
    const dropped = await this.#dropDays(closedBefore);
    await sweep(() => store.run('sweepVerificationSessions', { endedBefore: closedBefore, limit }));
    await sweep(() => store.run('returnLeftovers', { limit, now: clock() }));
    return swept + logged + dropped;
  }

  /** Drops expired days of the log. The next sweep drops a day that is in use now. */
  async #dropDays(closedBefore: number): Promise<number> {
    const { store, logger } = this.parts;
    let total = 0;
    for (const day of await readLogDays(store.read)) {
      if (day >= dayOf(closedBefore) || this.isStopped) return total;
      const calls = await store.run('dropLogDay', { day, closedBefore });
      if (typeof calls === 'string') return total;
      logger.info({ partition: partitionOf(day), calls }, 'a partition of the request log was dropped');
      total += calls;
    }
    return total;
  }
}

/**
 * Entries of one transaction. SQLite has one writer, which must not stall. PostgreSQL adds up about 100,000 a second, so
 * that the figures keep up with all gateways of a database.
 */
const rollUpBatchSizes: Readonly<Record<Store['engine'], number>> = { sqlite: 1_000, postgres: 20_000 };

/** Adds entries of the request log to usage figures, which are kept longer. Reports add up the entries since. */
export class RollUp extends PeriodicJob<JobParts> {
  /** End of the log at an earlier time, used until every transaction of that time has ended. */
  #end: LogEnd | undefined;

  constructor(parts: JobParts) {
    super(parts, 10_000, 'the log could not be added to the figures');
  }

  /** Rolls up all entries and returns their number. Stops early if another gateway rolls up or a transaction is open. */
  async run(): Promise<number> {
    const { store } = this.parts;
    const end = (this.#end ??= await readLogEnd(store.read));
    const limit = rollUpBatchSizes[store.engine];
    return this.inBatches(limit, async () => {
      const rolled = await store.run('rollUpLog', { end, limit });
      if (rolled === 'lost' || (typeof rolled === 'number' && rolled < limit)) this.#end = undefined;
      return typeof rolled === 'string' ? 0 : rolled;
    });
  }
}
