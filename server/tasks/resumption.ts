import { channelUnavailable } from '../lib/failure.ts';
import { withinLimit } from '../lib/timers.ts';
import { fault } from '../store/fault-points.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import { persist } from '../store/store.ts';
import { type AcceptedTask, noteDriverError, type Resumed } from './driver.ts';
import type { TaskEnvironment } from './environment.ts';
import { among } from './running.ts';

/** What a task that waits for its owner's word is given. */
export interface TaskInput {
  /** JSON value for the driver. */
  request: object;
  /** In the place of the task's facts. */
  facts?: Readonly<Record<string, unknown>>;
  /** In the place of its callback address. */
  callbackUrl?: string;
}

/** Has tasks go on that wait for their owners. */
export class Resumption {
  readonly #env: TaskEnvironment;
  readonly running = new Set<Promise<unknown>>();

  constructor(env: TaskEnvironment) {
    this.#env = env;
  }

  /** Undefined when the task is final. @throws Failure when the upstream did not take the input */
  resume(task: AcceptedTask, input: TaskInput): Promise<TaskRecord | undefined> {
    return among(this.running, this.#resume(task, input));
  }

  async #resume(
    task: AcceptedTask,
    { request, facts, callbackUrl }: TaskInput,
  ): Promise<TaskRecord | undefined> {
    const { store, timers, timing, clock } = this.#env;
    const { id } = task;
    const noted = await store.run('addTaskInput', {
      id,
      facts: facts === undefined ? null : JSON.stringify(facts),
      callbackUrl: callbackUrl ?? null,
    });
    if (!noted) return undefined;
    fault('resume:noted');
    const { upstreamId, result } = await this.#ask(task, request);
    fault('resume:answered');
    return persist(store, 'resumeTask', {
      id,
      upstreamId,
      result: JSON.stringify(result),
      nextPollAt: timers.monotonic() + timing.firstPollMs,
      pollInterval: timing.firstPollMs,
      now: clock(),
    });
  }

  async #ask(task: AcceptedTask, request: object): Promise<Resumed> {
    const { drivers, channels, timers, timing, stopping, logger } = this.#env;
    const driver = drivers.get(task.driver);
    const channel = channels.named(task.channel);
    if (channel === undefined) throw channelUnavailable('The provider that has the task is not available.');
    const attempt = channel.health.startAttempt({ user: task.userId, poll: true });
    try {
      const resumed = await withinLimit(timers, timing.submitLimitMs, stopping, async (signal) => {
        if (driver?.resume === undefined) throw new Error(`no task of ${task.driver} waits`);
        return driver.resume(task, request, { channel, user: task.userId, signal });
      });
      attempt.succeed();
      return resumed;
    } catch (error) {
      const about = { task: task.id };
      const turn = { channel, attempt };
      throw noteDriverError(logger, error, turn, 'upstream did not have a task go on', about).failure;
    }
  }
}
