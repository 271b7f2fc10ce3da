import type { Channel } from '../channels/channel.ts';
import type { Candidate } from '../channels/failover.ts';
import { ClaimLoop } from '../store/claim-loop.ts';
import { fault } from '../store/fault-points.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import { runInContext } from '../telemetry/telemetry-context.ts';
import { startLinkedTrace } from '../telemetry/trace.ts';
import {
  type AcceptedTask,
  asDriverError,
  callDriver,
  logDriverError,
  reportDriverError,
  type Snapshot,
  type TaskDriver,
  taskExpired,
} from './driver.ts';
import type { TaskEnvironment } from './environment.ts';
import { PollSlots } from './poll-slots.ts';
import type { TaskTransitions } from './transitions.ts';

interface PollOptions {
  /** The task is not due, but a client reads it. */
  early?: boolean;
  /** Called when the upstream has responded, before the result is written. */
  onResponse?: () => void;
}

/** Claims due tasks and runs their next step, with a concurrency limit for each channel. */
export class Poller {
  readonly #env: TaskEnvironment;
  readonly #changes: TaskTransitions;
  readonly #slots: PollSlots;
  readonly #loop: ClaimLoop;
  readonly #inFlight = new Map<string, Promise<void>>();
  readonly #submitting: () => readonly string[];

  /** `submitting` returns tasks that are still being submitted although their claim has expired. */
  constructor(env: TaskEnvironment, changes: TaskTransitions, submitting: () => readonly string[]) {
    this.#env = env;
    this.#submitting = submitting;
    this.#changes = changes;
    this.#slots = new PollSlots(env);
    const { timers, timing, logger } = env;
    this.#loop = new ClaimLoop({
      timers,
      gapMs: timing.claimGapMs,
      idleMs: timing.idleMs,
      claim: async () => (await this.#claim()).nextDueAt,
      onError: (error) => logger.error({ err: error }, 'due tasks could not be claimed'),
    });
  }

  /** Running steps of this process. */
  get inFlight(): readonly Promise<void>[] {
    return [...this.#inFlight.values()];
  }

  start(): void {
    this.#loop.start();
  }

  /** Stops claiming. Resolves when the steps of the last claim are in `inFlight`. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Schedules a claim for a task that is due earlier than expected. */
  wake(at = this.#env.timers.monotonic()): void {
    this.#loop.wake(at);
  }

  /** Claims due tasks, runs a step of each and returns their number. */
  async runDue(): Promise<number> {
    const { steps } = await this.#claim();
    await Promise.all(steps);
    return steps.length;
  }

  /**
   * Polls one task now for a reader. Concurrent readers share one poll. Undefined: the poll cannot start without
   * waiting.
   */
  refresh(task: TaskRecord): Promise<void> | undefined {
    const running = this.#inFlight.get(task.id);
    if (running !== undefined) return running;
    // Another gateway has claimed it, so it is being polled.
    if (task.leaseOwner !== null) return undefined;
    if (!this.#slots.hasFree(task.channel, task.userId)) return undefined;
    return this.#startStep(task, async (onResponse) => {
      const { id, attempt } = task;
      const { owner, store, timers } = this.#env;
      const now = timers.monotonic();
      const claimed = await store.run('claimTask', { id, attempt, owner, until: this.#claimEnd(now) });
      return claimed && this.runStep(claimed, { early: true, onResponse });
    });
  }

  async #claim(): Promise<{ steps: Promise<void>[]; nextDueAt: number }> {
    const { owner, store, timers } = this.#env;
    const now = timers.monotonic();
    const { channels, nextFreeAt } = this.#slots.open();
    if (channels.length === 0) return { steps: [], nextDueAt: nextFreeAt };
    const { tasks, emptied, nextDueAt } = await store.run('claimTasks', {
      channels,
      except: this.#submitting(),
      owner,
      now,
      until: this.#claimEnd(now),
    });
    if (tasks.length > 0) fault('poll:claimed');
    const steps = tasks.map((task) =>
      this.#startStep(task, (onResponse) => this.runStep(task, { onResponse })),
    );
    for (const channel of emptied) this.#slots.emptied(channel);
    return { steps, nextDueAt: Math.min(nextDueAt ?? Number.POSITIVE_INFINITY, nextFreeAt) };
  }

  #claimEnd(now: number): number {
    const { pollLimitMs, claimMarginMs } = this.#env.timing;
    return now + pollLimitMs + claimMarginMs;
  }

  /** Starts a step and releases its slot when the upstream has responded, before the result is written. */
  #startStep(
    { id, requestId, traceparent, channel, userId }: TaskRecord,
    step: (onResponse: () => void) => Promise<number | undefined>,
  ): Promise<void> {
    const release = this.#slots.enter(channel, userId);
    const onResponse = () => {
      if (release()) this.wake();
    };
    // A trace of its own, because the trace of the request ended with its response.
    const trace = startLinkedTrace('poll task', traceparent, {
      'unigate.task.id': id,
      'unigate.channel': channel,
    });
    const running = runInContext({ requestId, trace }, () => step(onResponse))
      .then(
        (dueAt) => {
          if (dueAt !== undefined) this.wake(dueAt);
        },
        // The claim expires, and the task is claimed again.
        (error: unknown) => {
          if (this.#env.stopping.aborted) return;
          this.#env.logger.error({ err: error, task: id }, 'a step of a task failed');
        },
      )
      .finally(() => {
        if (this.#inFlight.get(id) === running) this.#inFlight.delete(id);
        onResponse();
        trace?.end();
      });
    this.#inFlight.set(id, running);
    return running;
  }

  /** Runs the next step of a claimed task. Returns the time when it is due again, if it is not final. */
  async runStep(task: TaskRecord, options: PollOptions = {}): Promise<number | undefined> {
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
    const { timing, stopping } = this.#env;
    const attempt = channel.health.startAttempt({ user: task.userId, poll: true });
    let snapshot: Snapshot;
    try {
      snapshot = await callDriver(this.#env, task, channel, timing.pollLimitMs, (upstream) =>
        driver.poll(task, upstream),
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
    candidate: Candidate,
    cause: unknown,
  ): Promise<number | undefined> {
    const { channel } = candidate;
    const about = { task: task.id, failures: task.failures + 1 };
    const summary = 'upstream did not report the state of a task';
    const error = reportDriverError(this.#env.logger, cause, candidate, summary, about);
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
  env: TaskEnvironment,
  task: AcceptedTask,
  driver: TaskDriver,
  channel: Channel,
): Promise<void> {
  try {
    await callDriver(env, task, channel, env.timing.pollLimitMs, (upstream) =>
      driver.cancel?.(task, upstream),
    );
  } catch (error) {
    const about = { task: task.id, channel: channel.name };
    logDriverError(
      env.logger,
      asDriverError(error),
      about,
      'an unwanted upstream task could not be canceled',
    );
  }
}
