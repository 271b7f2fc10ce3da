import type { Alarm } from '../lib/timers.ts';
import type { TaskEnvironment } from './environment.ts';
import type { TaskStep } from './task-step.ts';

/** At a time, so that no transaction is long. */
const batch = 500;

/**
 * What is done now and then: forgets old records, ends tasks whose channel is configured no more, and mends due times
 * that no clock here can have written.
 */
export class Housekeeping {
  readonly #env: TaskEnvironment;
  readonly #step: TaskStep;
  #alarm: Alarm | undefined;
  #round: Promise<void> = Promise.resolve();

  constructor(env: TaskEnvironment, step: TaskStep) {
    this.#env = env;
    this.#step = step;
  }

  start(): void {
    this.#alarm = this.#env.timers.alarm(this.#env.timing.housekeepingMs, () => {
      this.#round = this.run()
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
    await this.#round;
  }

  async run(): Promise<{ pruned: number; expired: number }> {
    await this.repairDue();
    return { expired: await this.#expireStranded(), pruned: await this.#prune() };
  }

  /** No poll is put off for longer than the longest pause: what seems so was written by a clock that ran ahead. */
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
      const gone = await store.run('pruneTasks', { finalBy, limit: batch });
      pruned += gone;
      if (gone < batch) break;
    }
    return pruned;
  }

  async #expireStranded(): Promise<number> {
    const { store, timers, timing, owner, channels } = this.#env;
    const now = timers.monotonic();
    const until = now + timing.leaseMarginMs;
    const lease = { owner, now, until, channels: channels.names, limit: batch };
    const stranded = await store.run('claimStrandedTasks', lease);
    for (const task of stranded) await this.#step.run(task);
    return stranded.length;
  }
}
