import { PeriodicTask } from '../lib/periodic-task.ts';
import type { TaskEnvironment } from './environment.ts';
import type { Poller } from './poller.ts';

/** Rows in one transaction, so that it stays short. */
const batchSize = 500;

/** Deletes rows in batches until none is left or the gateway stops. Returns their number. */
export async function pruneInBatches(
  stopping: AbortSignal,
  prune: (limit: number) => Promise<number>,
): Promise<number> {
  let pruned = 0;
  while (!stopping.aborted) {
    const deleted = await prune(batchSize);
    pruned += deleted;
    if (deleted < batchSize) break;
  }
  return pruned;
}

/** Periodically prunes old tasks, ends tasks whose channel was removed, and repairs due times too far in the future. */
export class Housekeeping {
  readonly #env: TaskEnvironment;
  readonly #poller: Poller;
  readonly #periodicTask: PeriodicTask;

  constructor(env: TaskEnvironment, poller: Poller) {
    this.#env = env;
    this.#poller = poller;
    this.#periodicTask = new PeriodicTask(env.timers);
  }

  start(): void {
    const { timing, logger } = this.#env;
    const onError = (error: unknown) => logger.error({ err: error }, 'housekeeping of tasks failed');
    this.#periodicTask.start(timing.housekeepingMs, () => this.run(), onError);
  }

  stop(): Promise<void> {
    return this.#periodicTask.stop();
  }

  async run(): Promise<{ pruned: number; expired: number }> {
    await this.repairDue();
    const { store, timers, timing, stopping } = this.#env;
    const expired = await this.#expireStranded();
    const finalBy = timers.monotonic() - timing.keepMs;
    const pruned = await pruneInBatches(stopping, (limit) => store.run('pruneTasks', { finalBy, limit }));
    return { expired, pruned };
  }

  /** Repairs due times beyond the longest pause. A clock that ran ahead has written them. */
  async repairDue(): Promise<void> {
    const { store, timers, timing } = this.#env;
    const now = timers.monotonic();
    await store.run('repairDueTasks', { now, after: now + timing.maxPauseMs });
  }

  async #expireStranded(): Promise<number> {
    const { store, timers, timing, owner, channels } = this.#env;
    const now = timers.monotonic();
    const until = now + timing.claimMarginMs;
    const claim = { owner, now, until, channels: channels.names, limit: batchSize };
    const stranded = await store.run('claimStrandedTasks', claim);
    for (const task of stranded) await this.#poller.runStep(task);
    return stranded.length;
  }
}
