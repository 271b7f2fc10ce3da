import { ClaimLoop } from '../store/claim-loop.ts';
import { fault } from '../store/fault-points.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import { runInContext } from '../telemetry/telemetry-context.ts';
import { startLinkedTrace } from '../telemetry/trace.ts';
import type { TaskEnvironment } from './environment.ts';
import type { PollSlots } from './poll-slots.ts';
import type { TaskStep } from './task-step.ts';

/** Claims due tasks and polls them, with a concurrency limit for each channel. */
export class Poller {
  readonly #env: TaskEnvironment;
  readonly #step: TaskStep;
  readonly #slots: PollSlots;
  readonly #loop: ClaimLoop;
  readonly #inFlight = new Map<string, Promise<void>>();
  readonly #submitting: () => readonly string[];

  /** `submitting` returns tasks that are still being submitted although their claim has expired. */
  constructor(env: TaskEnvironment, step: TaskStep, slots: PollSlots, submitting: () => readonly string[]) {
    this.#env = env;
    this.#submitting = submitting;
    this.#step = step;
    this.#slots = slots;
    const { timers, timing, logger } = env;
    this.#loop = new ClaimLoop({
      timers,
      gapMs: timing.claimGapMs,
      idleMs: timing.idleMs,
      claim: async () => (await this.#claim()).nextDueAt,
      failed: (error) => logger.error({ err: error }, 'due tasks could not be claimed'),
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
      return claimed && this.#step.run(claimed, { early: true, onResponse });
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
      this.#startStep(task, (onResponse) => this.#step.run(task, { onResponse })),
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
}
