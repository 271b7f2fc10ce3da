import { ClaimLoop } from '../store/claim-loop.ts';
import { fault } from '../store/fault-points.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import { runInContext } from '../telemetry/telemetry-context.ts';
import { startLinkedTrace } from '../telemetry/trace.ts';
import type { TaskEnvironment } from './environment.ts';
import type { PollSlots } from './poll-slots.ts';
import type { TaskStep } from './task-step.ts';

/** Claims due tasks and takes a step with each, every channel's beside the others', so many at a time. */
export class Poller {
  readonly #env: TaskEnvironment;
  readonly #step: TaskStep;
  readonly #slots: PollSlots;
  readonly #loop: ClaimLoop;
  readonly #inFlight = new Map<string, Promise<void>>();
  readonly #submitting: () => readonly string[];

  /** `submitting`: tasks to leave alone although their lease is over. */
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
      failed: (error) => logger.error({ err: error }, 'the store could not be asked for due tasks'),
    });
  }

  /** Steps being taken by this process. */
  get inFlight(): readonly Promise<void>[] {
    return [...this.#inFlight.values()];
  }

  start(): void {
    this.#loop.start();
  }

  /** Claims no more. Resolves when the last claim is in `inFlight`. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Something may be due at that time, earlier than the poller expects. */
  wake(at = this.#env.timers.monotonic()): void {
    this.#loop.wake(at);
  }

  /** Claims what is due now and resolves when a step is taken with all of it. Gives how many. */
  async runDue(): Promise<number> {
    const { steps } = await this.#claim();
    await Promise.all(steps);
    return steps.length;
  }

  /**
   * Asks the upstream about one task now, for a reader. However many ask at the same time, the upstream is asked
   * once. Undefined when that cannot be done without waiting.
   */
  refresh(task: TaskRecord): Promise<void> | undefined {
    const running = this.#inFlight.get(task.id);
    if (running !== undefined) return running;
    // Another is at work on it, or was a moment ago: then it has just been asked.
    if (task.leaseOwner !== null) return undefined;
    if (!this.#slots.hasFree(task.channel, task.userId)) return undefined;
    return this.#startStep(task, async (answered) => {
      const { id, attempt } = task;
      const { owner, store, timers } = this.#env;
      const now = timers.monotonic();
      const claimed = await store.run('claimTask', { id, attempt, owner, until: this.#leaseEnd(now) });
      return claimed && this.#step.run(claimed, { early: true, answered });
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
      until: this.#leaseEnd(now),
    });
    if (tasks.length > 0) fault('poll:claimed');
    const steps = tasks.map((task) =>
      this.#startStep(task, (answered) => this.#step.run(task, { answered })),
    );
    for (const channel of emptied) this.#slots.emptied(channel);
    return { steps, nextDueAt: Math.min(nextDueAt ?? Number.POSITIVE_INFINITY, nextFreeAt) };
  }

  #leaseEnd(now: number): number {
    const { pollLimitMs, leaseMarginMs } = this.#env.timing;
    return now + pollLimitMs + leaseMarginMs;
  }

  /** The slot is free again as soon as the upstream has answered: what follows is between us and the store. */
  #startStep(
    { id, requestId, traceparent, channel, userId }: TaskRecord,
    step: (answered: () => void) => Promise<number | undefined>,
  ): Promise<void> {
    const leave = this.#slots.enter(channel, userId);
    const answered = () => {
      if (leave()) this.wake();
    };
    // A trace of its own: that of the request ended with its answer.
    const trace = startLinkedTrace('poll task', traceparent, {
      'unigate.task.id': id,
      'unigate.channel': channel,
    });
    const taken = runInContext({ requestId, trace }, () => step(answered))
      .then(
        (dueAt) => {
          if (dueAt !== undefined) this.wake(dueAt);
        },
        // The lease ends by itself, and the task is claimed again.
        (error: unknown) => {
          if (this.#env.stopping.aborted) return;
          this.#env.logger.error({ err: error, task: id }, 'a step of a task failed');
        },
      )
      .finally(() => {
        if (this.#inFlight.get(id) === taken) this.#inFlight.delete(id);
        answered();
        trace?.end();
      });
    this.#inFlight.set(id, taken);
    return taken;
  }
}
