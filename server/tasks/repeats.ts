import { findTaskById, type TaskRecord } from '../store/queries/tasks.ts';
import type { TaskDriver } from './driver.ts';
import type { TaskEnvironment } from './environment.ts';
import { submissionInterrupted } from './task-errors.ts';
import type { TaskTransitions } from './transitions.ts';

/** Finds out what became of a task whose order is repeated, before its id is given a second time. */
export class Repeats {
  readonly #env: TaskEnvironment;
  readonly #changes: TaskTransitions;
  readonly #running: ReadonlyMap<string, Promise<TaskRecord>>;

  /** `running` are the submissions of this process. */
  constructor(
    env: TaskEnvironment,
    changes: TaskTransitions,
    running: ReadonlyMap<string, Promise<TaskRecord>>,
  ) {
    this.#env = env;
    this.#changes = changes;
    this.#running = running;
  }

  /**
   * Waits while somebody is submitting the task. Undefined when it came to nothing before any upstream was asked for
   * it, so that it is to be made anew. One that was cut off later fails: whether the upstream has it cannot be known.
   */
  async resolve({ id }: TaskRecord, driver: TaskDriver): Promise<TaskRecord | undefined> {
    const { timers, timing, store, stopping, owner } = this.#env;
    const patientUntil = timers.monotonic() + timing.submitLimitMs + timing.leaseMarginMs;
    for (let looks = 1; ; looks += 1) {
      const running = this.#running.get(id);
      if (running !== undefined) return running;
      const task = await findTaskById(store.read, id);
      if (task === undefined || task.upstreamId !== null || task.completedAt !== null) return task;
      const { leaseOwner } = task;
      // Under a lease of this process and not in its hands: it was cut off before it began.
      const left = leaseOwner === null || (leaseOwner === owner && looks > 1);
      if (left && driver.resubmitSafe) return task;
      if (left) await this.#end(task);
      else if (stopping.aborted || timers.monotonic() >= patientUntil) return task;
      else await this.#pause();
    }
  }

  async #end(task: TaskRecord): Promise<void> {
    if (task.askedAt === null) await this.#changes.forget(task);
    else await this.#changes.fail(task, submissionInterrupted);
  }

  #pause(): Promise<void> {
    const { timers, timing } = this.#env;
    return new Promise((resolve) => {
      timers.alarm(timing.repeatLookMs, resolve);
    });
  }
}
