import { channelUnavailable } from '../lib/failure.ts';
import { withinLimit } from '../lib/timers.ts';
import { fault } from '../store/fault-points.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import { persist } from '../store/store.ts';
import { type AcceptedTask, type Resumed, reportDriverError } from './driver.ts';
import type { TaskEnvironment } from './environment.ts';
import { track } from './track.ts';

/** Input for a task that waits for its owner. */
export interface ResumeInput {
  /** JSON value for the driver. */
  request: object;
  /** Replaces the facts of the task. */
  facts?: Readonly<Record<string, unknown>>;
  /** Replaces its callback URL. */
  callbackUrl?: string;
}

/** Resumes tasks that wait for input of their owner. */
export class Resumption {
  readonly #env: TaskEnvironment;
  readonly running = new Set<Promise<unknown>>();

  constructor(env: TaskEnvironment) {
    this.#env = env;
  }

  /** Undefined: the task is final. @throws Failure when the upstream does not accept the input */
  resume(task: AcceptedTask, input: ResumeInput): Promise<TaskRecord | undefined> {
    return track(this.running, this.#resume(task, input));
  }

  async #resume(
    task: AcceptedTask,
    { request, facts, callbackUrl }: ResumeInput,
  ): Promise<TaskRecord | undefined> {
    const { store, timers, timing, clock } = this.#env;
    const { id } = task;
    const isRecorded = await store.run('addTaskInput', {
      id,
      facts: facts === undefined ? null : JSON.stringify(facts),
      callbackUrl: callbackUrl ?? null,
    });
    if (!isRecorded) return undefined;
    fault('resume:noted');
    const { upstreamId, result } = await this.#send(task, request);
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

  async #send(task: AcceptedTask, request: object): Promise<Resumed> {
    const { drivers, channels, timers, timing, stopping, logger } = this.#env;
    const driver = drivers.get(task.driver);
    const channel = channels.named(task.channel);
    if (channel === undefined) throw channelUnavailable('The provider that has the task is not available.');
    const attempt = channel.health.startAttempt({ user: task.userId, poll: true });
    try {
      const resumed = await withinLimit(timers, timing.submitLimitMs, stopping, async (signal) => {
        if (driver?.resume === undefined) throw new Error(`the driver ${task.driver} cannot resume tasks`);
        return driver.resume(task, request, { channel, user: task.userId, signal });
      });
      attempt.succeed();
      return resumed;
    } catch (error) {
      const about = { task: task.id };
      const candidate = { channel, attempt };
      throw reportDriverError(logger, error, candidate, 'upstream did not resume a task', about).failure;
    }
  }
}
