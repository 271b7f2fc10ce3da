import type { Channel } from '../channels/channel.ts';
import type { Candidate } from '../channels/failover.ts';
import { withinLimit } from '../lib/timers.ts';
import { fault } from '../store/fault-points.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import {
  type AcceptedTask,
  asDriverError,
  logDriverError,
  reportDriverError,
  type Snapshot,
  type TaskDriver,
  taskExpired,
} from './driver.ts';
import type { TaskEnvironment } from './environment.ts';
import type { PollSlots } from './poll-slots.ts';
import type { TaskTransitions } from './transitions.ts';

export interface PollOptions {
  /** The task is not due, but a client reads it. */
  early?: boolean;
  /** Called when the upstream has responded, before the result is written. */
  onResponse?: () => void;
}

/** Runs the next step of a claimed task. */
export class TaskStep {
  readonly #env: TaskEnvironment;
  readonly #changes: TaskTransitions;
  readonly #slots: PollSlots;

  constructor(env: TaskEnvironment, changes: TaskTransitions, slots: PollSlots) {
    this.#env = env;
    this.#changes = changes;
    this.#slots = slots;
  }

  /** Returns the time when the task is due again, if it is not final. */
  async run(task: TaskRecord, options: PollOptions = {}): Promise<number | undefined> {
    const channel = this.#env.channels.named(task.channel);
    const driver = this.#env.drivers.get(task.driver);
    if (channel === undefined || driver === undefined) {
      if (!this.#isOverdue(task)) return this.#changes.postpone(task);
      await this.#changes.fail(task, taskExpired);
      return undefined;
    }
    if (isAccepted(task)) return this.#poll(task, driver, channel, options);
    await this.#changes.interrupt(task);
    return undefined;
  }

  async #poll(
    task: AcceptedTask,
    driver: TaskDriver,
    channel: Channel,
    { early = false, onResponse = () => {} }: PollOptions,
  ): Promise<number | undefined> {
    const { timers, timing, stopping } = this.#env;
    const attempt = channel.health.startAttempt({ user: task.userId, poll: true });
    let snapshot: Snapshot;
    try {
      snapshot = await withinLimit(timers, timing.pollLimitMs, stopping, (signal) =>
        driver.poll(task, { channel, user: task.userId, signal }),
      );
    } catch (error) {
      stopping.throwIfAborted();
      return this.#handleFailedPoll(task, driver, { channel, attempt }, error);
    }
    fault('poll:answered');
    attempt.succeed();
    this.#slots.answered(channel.name);
    onResponse();
    if (snapshot.state === 'completed') await this.#changes.complete(task, snapshot);
    else if (snapshot.state === 'failed') await this.#changes.fail(task, snapshot.error, snapshot);
    else if (this.#isOverdue(task)) await this.#expire(task, driver, channel);
    else return this.#changes.progress(task, snapshot, { early });
    return undefined;
  }

  async #handleFailedPoll(
    task: AcceptedTask,
    driver: TaskDriver,
    turn: Candidate,
    cause: unknown,
  ): Promise<number | undefined> {
    const { channel } = turn;
    const about = { task: task.id, failures: task.failures + 1 };
    const summary = 'upstream did not report the state of a task';
    const error = reportDriverError(this.#env.logger, cause, turn, summary, about);
    const { status, code, message, retryAfter } = error.failure;
    if (status === 429 && retryAfter !== undefined)
      this.#slots.throttled(channel.name, task.id, retryAfter * 1_000);
    if (error.kind === 'rejected') await this.#changes.fail(task, { code, message });
    else if (this.#isOverdue(task)) await this.#expire(task, driver, channel);
    else return this.#changes.postpone(task, retryAfter);
    return undefined;
  }

  async #expire(task: AcceptedTask, driver: TaskDriver, channel: Channel): Promise<void> {
    const failed = await this.#changes.fail(task, taskExpired);
    if (failed !== undefined) await cancelUpstreamTask(this.#env, task, driver, channel);
  }

  #isOverdue({ deadlineAt }: TaskRecord): boolean {
    return this.#env.timers.monotonic() >= deadlineAt;
  }
}

function isAccepted(task: TaskRecord): task is AcceptedTask {
  return task.upstreamId !== null;
}

/** Cancels an upstream task whose result will not be fetched. If that fails, only the operator bears its cost. */
export async function cancelUpstreamTask(
  { timers, timing, stopping, logger }: TaskEnvironment,
  task: AcceptedTask,
  driver: TaskDriver,
  channel: Channel,
): Promise<void> {
  try {
    await withinLimit(timers, timing.pollLimitMs, stopping, async (signal) =>
      driver.cancel?.(task, { channel, user: task.userId, signal }),
    );
  } catch (error) {
    const about = { task: task.id, channel: channel.name };
    logDriverError(logger, asDriverError(error), about, 'an unwanted upstream task could not be canceled');
  }
}
