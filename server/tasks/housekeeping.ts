import type { Alarm } from '../lib/timers.ts';
import type { TaskEnvironment } from './environment.ts';
import type { TaskStep } from './task-step.ts';

/** Tasks in one transaction, so that it stays short. */
const batchSize = 500;

/** Periodically prunes old tasks, ends tasks whose channel was removed, and repairs due times too far in the future. */
export class Housekeeping {
  readonly #env: TaskEnvironment;
  readonly #step: TaskStep;
  #alarm: Alarm | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(env: TaskEnvironment, step: TaskStep) {
    this.#env = env;
    this.#step = step;
  }

  start(): void {
    this.#alarm = this.#env.timers.alarm(this.#env.timing.housekeepingMs, () => {
      this.#running = this.run()
        .then(
          () => {},
          (error: unknown) => this.#env.logger.error({ err: error }, 'housekeeping of tasks failed'),
        )
        .then(() => this.#alarm?.refresh());
    });
  }

  async stop(): Promise<void> {
    this.#alarm?.cancel();
    this.#alarm = undefined;
    await this.#running;
  }

  async run(): Promise<{ pruned: number; expired: number }> {
    await this.repairDue();
    return { expired: await this.#expireStranded(), pruned: await this.#prune() };
  }

  /** Repairs due times beyond the longest pause. A clock that ran ahead has written them. */
  async repairDue(): Promise<void> {
    const { store, timers, timing } = this.#env;
    const now = timers.monotonic();
    await store.run('repairDueTasks', { now, after: now + timing.maxPauseMs });
  }

  async #prune(): Promise<number> {
    const { store, timers, timing, stopping } = this.#env;
    const finalBy = timers.monotonic() - timing.keepMs;
    let pruned = 0;
    while (!stopping.aborted) {
      const deleted = await store.run('pruneTasks', { finalBy, limit: batchSize });
      pruned += deleted;
      if (deleted < batchSize) break;
    }
    return pruned;
  }

  async #expireStranded(): Promise<number> {
    const { store, timers, timing, owner, channels } = this.#env;
    const now = timers.monotonic();
    const until = now + timing.claimMarginMs;
    const claim = { owner, now, until, channels: channels.names, limit: batchSize };
    const stranded = await store.run('claimStrandedTasks', claim);
    for (const task of stranded) await this.#step.run(task);
    return stranded.length;
  }
}
