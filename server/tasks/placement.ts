import type { Channel } from '../channels/channel.ts';
import { Failure } from '../failure.ts';
import { fault } from '../store/fault-points.ts';
import { persist } from '../store/persist.ts';
import { findTaskById, findTaskRequest, type TaskRecord } from '../store/queries/tasks.ts';
import { abandon } from './abandon.ts';
import {
  asDriverError,
  type DriverError,
  logDriverError,
  type Submission,
  type TaskDriver,
} from './driver.ts';
import type { TaskEnvironment } from './environment.ts';
import { submissionInterrupted, submissionUnconfirmed } from './task-errors.ts';
import { withinLimit } from './time-limit.ts';
import type { TaskTransitions } from './transitions.ts';

/** So often is an unanswered submission repeated while the client waits. */
const repeats = 2;

/** Gets tasks to their upstreams, and never two upstream tasks for one. */
export class Placement {
  readonly #env: TaskEnvironment;
  readonly #changes: TaskTransitions;

  constructor(env: TaskEnvironment, changes: TaskTransitions) {
    this.#env = env;
    this.#changes = changes;
  }

  /**
   * Asks the channels in turn until one takes the task. A task that one may have taken stays with it: it is asked
   * again where that is safe, by the poller in the end, and given up where it is not.
   *
   * @throws Failure what the client gets when the task is not made; then there is no such task any more.
   */
  async place(
    made: TaskRecord,
    request: unknown,
    driver: TaskDriver,
    channels: readonly Channel[],
  ): Promise<TaskRecord> {
    const { timing, timers, stopping, store } = this.#env;
    const lateAt = timers.monotonic() + timing.submitLimitMs;
    const others = channels.slice(1);
    let [channel] = channels;
    let task = made;
    if (task.askedAt === null) {
      const { id, attempt } = task;
      const askedAt = timers.monotonic();
      if (!(await persist(store, 'markAsked', { id, attempt, askedAt }))) return this.#overtaken(task);
      fault('submit:marked');
      task = { ...task, askedAt };
    }
    let unanswered = 0;
    for (;;) {
      if (channel === undefined) throw new Error('a task needs a channel');
      const answer = await this.#ask(
        task,
        request,
        driver,
        channel,
        Math.max(1, lateAt - timers.monotonic()),
      );
      if ('submission' in answer) return this.#accept(task, answer.submission, driver, channel);
      const { kind, failure } = answer.refusal;
      if (kind === 'retryable' && unanswered === 0 && others.length > 0) {
        channel = others.shift() ?? channel;
        const { id, attempt } = task;
        if (!(await persist(store, 'moveTask', { id, attempt, channel: channel.name })))
          return this.#overtaken(task);
        task = { ...task, channel: channel.name };
        continue;
      }
      if (kind === 'unknown' || unanswered > 0) unanswered += 1;
      if (kind === 'rejected' || unanswered === 0 || !driver.resubmitSafe) {
        if (await this.#changes.drop(task, failure)) throw failure;
        return this.#overtaken(task);
      }
      // The task is safe in the store, so the client gets it; the poller goes on submitting it.
      if (unanswered > repeats || timers.monotonic() >= lateAt || stopping.aborted)
        return this.#changes.postpone(task);
      await this.#pause(timing.resubmitMs * 2 ** (unanswered - 1));
    }
  }

  /** Goes on with a claimed task that no upstream is known to have: its submission was cut off or unanswered. */
  async resume(claimed: TaskRecord, driver: TaskDriver, channel: Channel): Promise<TaskRecord | undefined> {
    const { timing, timers, stopping, store, owner } = this.#env;
    const request = driver.resubmitSafe ? await findTaskRequest(store.read, claimed.id) : undefined;
    if (request === undefined) {
      if (claimed.askedAt !== null) return this.#changes.fail(claimed, submissionInterrupted);
      await this.#changes.forget(claimed);
      return undefined;
    }
    const now = timers.monotonic();
    if (now >= Math.min((claimed.askedAt ?? now) + timing.submitGraceMs, claimed.deadlineAt)) {
      return this.#changes.fail(claimed, submissionUnconfirmed);
    }
    // Submitting may take longer than polling, for which the claim was made.
    const until = now + timing.submitLimitMs + timing.leaseMarginMs;
    const { id, attempt } = claimed;
    const task = await store.run('claimTask', { id, attempt, owner, until, renew: true });
    if (task === undefined) return undefined;
    const answer = await this.#ask(task, request, driver, channel, timing.submitLimitMs);
    if ('submission' in answer) return this.#accept(task, answer.submission, driver, channel);
    stopping.throwIfAborted();
    const { kind, failure } = answer.refusal;
    if (kind === 'rejected') return this.#changes.fail(task, failure);
    return this.#changes.postpone(task, failure.retryAfter);
  }

  async #ask(
    task: TaskRecord,
    request: unknown,
    driver: TaskDriver,
    channel: Channel,
    limitMs: number,
  ): Promise<{ submission: Submission } | { refusal: DriverError }> {
    const { timers, stopping, logger } = this.#env;
    try {
      const submission = await withinLimit(timers, limitMs, stopping, (signal) =>
        driver.submit(task, request, { channel, user: task.userId, signal }),
      );
      fault('submit:answered');
      channel.health.succeeded();
      return { submission };
    } catch (error) {
      const refusal = asDriverError(error);
      if (refusal.channelFailed) channel.health.failed();
      const about = { task: task.id, channel: channel.name };
      logDriverError(logger, refusal, about, 'upstream did not take a task');
      return { refusal };
    }
  }

  async #accept(
    task: TaskRecord,
    submission: Submission,
    driver: TaskDriver,
    channel: Channel,
  ): Promise<TaskRecord> {
    const accepted = await this.#changes.accept(task, submission);
    if (accepted !== undefined) return accepted;
    const { upstreamId } = submission;
    const current = await findTaskById(this.#env.store.read, task.id);
    // The task ended while its submission was on the way, so nobody will ever fetch what the upstream makes.
    const over = current === undefined || current.completedAt !== null;
    if (over && current?.upstreamId !== upstreamId) {
      await abandon(this.#env, { ...task, upstreamId }, driver, channel);
    }
    return this.#overtaken(task);
  }

  /** What another claim has made of the task. */
  async #overtaken({ id }: TaskRecord): Promise<TaskRecord> {
    const current = await findTaskById(this.#env.store.read, id);
    if (current !== undefined) return current;
    throw new Failure(
      502,
      'do_request_failed',
      'The task was given up before the provider had confirmed it.',
    );
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#env.timers.alarm(ms, resolve);
    });
  }
}
