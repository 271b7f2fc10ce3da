import { randomUUID } from 'node:crypto';
import { withinLimit } from '../lib/timers.ts';
import type { NewChange } from '../store/commands/changes.ts';
import type { RemoveResult } from '../store/commands/tasks.ts';
import { fault } from '../store/fault-points.ts';
import {
  findTask,
  findTaskById,
  findTasks,
  listTasks,
  pageTasks,
  type TaskFilter,
  type TaskName,
  type TaskRecord,
} from '../store/queries/tasks.ts';
import { type AcceptedTask, asDriverError, taskCanceled } from './driver.ts';
import { environment, type TaskEnvironment, type TaskOptions } from './environment.ts';
import { Housekeeping } from './housekeeping.ts';
import { PollSlots } from './poll-slots.ts';
import { Poller } from './poller.ts';
import { Resumption, type TaskInput } from './resumption.ts';
import { Submitter } from './submitter.ts';
import type { RepeatedOrder, SubmittedTask, TaskCreation } from './task-creation.ts';
import { TaskStep } from './task-step.ts';
import { type ManualEnd, TaskTransitions } from './transitions.ts';

export interface CancelResult {
  /** False: it runs already, is over, or its upstream cannot stop tasks. */
  canceled: boolean;
  task: TaskRecord;
}

/**
 * Work that upstreams do in their own time: made, watched to its end, paid once, and shown to its owner only.
 *
 * @example
 * const tasks = new Tasks({ store, drivers, channels, priceTerms, logger });
 * await tasks.start();
 * const { task } = await tasks.submit(order);
 * const now = await tasks.read({ id: task.id, userId: caller.userId, format: 'videos' });
 */
export class Tasks {
  readonly #env: TaskEnvironment;
  readonly #stopping = new AbortController();
  readonly #changes: TaskTransitions;
  readonly #submitter: Submitter;
  readonly #poller: Poller;
  readonly #housekeeping: Housekeeping;
  readonly #resumption: Resumption;

  constructor(options: TaskOptions) {
    this.#env = environment(options, this.#stopping.signal, `gateway_${randomUUID()}`);
    const slots = new PollSlots(this.#env);
    this.#changes = new TaskTransitions(this.#env);
    this.#submitter = new Submitter(this.#env, this.#changes);
    const step = new TaskStep(this.#env, this.#changes, slots);
    this.#poller = new Poller(this.#env, step, slots, () => this.#submitter.late);
    this.#housekeeping = new Housekeeping(this.#env, step);
    this.#resumption = new Resumption(this.#env);
  }

  /** Goes on with what an earlier run left behind, and watches over all tasks from now on. */
  async start(): Promise<void> {
    await this.#housekeeping.repairDue();
    this.#poller.start();
    this.#housekeeping.start();
  }

  /** Begins nothing new, waits up to `graceMs` milliseconds for what runs, and leaves the rest to others. */
  async stop(graceMs = 5_000): Promise<void> {
    const { store, timers, owner } = this.#env;
    await this.#poller.stop();
    const cutOff = timers.alarm(graceMs, () => this.#stopping.abort(new Error('the gateway stops')));
    const running = [
      ...this.#poller.inFlight,
      ...this.#submitter.running,
      ...this.#resumption.running,
      this.#housekeeping.stop(),
    ];
    await Promise.allSettled(running);
    cutOff.cancel();
    await store.run('releaseTasks', { owner, now: timers.monotonic() });
  }

  /**
   * Makes a task. When it resolves, the task is on disk and its id may be given away. It goes on when the client leaves.
   *
   * @throws Failure 403 without enough quota, 400 for a reused idempotency key, 503 without a channel, and
   *   whatever failure the driver's error carries; no quota is held and no task is there then.
   */
  async submit(order: TaskCreation): Promise<SubmittedTask> {
    const submitted = await this.#submitter.submit(order);
    if (submitted.task.nextPollAt !== null) this.#poller.wake(submitted.task.nextPollAt);
    return submitted;
  }

  /** The task that an earlier order of the same made, which was known by what the client asked for. */
  repeated(order: RepeatedOrder): Promise<TaskRecord | undefined> {
    return this.#submitter.repeated(order);
  }

  /**
   * The owner's task of that format, else undefined. A task that was not asked about for a while is asked about
   * first; the reader waits a short time for the answer.
   */
  async read(name: TaskName): Promise<TaskRecord | undefined> {
    const { read } = this.#env.store;
    const task = await findTask(read, name);
    if (task === undefined) return undefined;
    return (await this.#askAbout(task)) ? findTask(read, name) : task;
  }

  /** The same for several tasks, in no order; those that are not the owner's are left out. */
  async readAll(names: Parameters<typeof findTasks>[1]): Promise<TaskRecord[]> {
    const { read } = this.#env.store;
    const tasks = await findTasks(read, names);
    const asked = await Promise.all(tasks.map((task) => this.#askAbout(task)));
    return asked.includes(true) ? findTasks(read, names) : tasks;
  }

  /** Asks about a task that was not asked about for a while. Says whether its row may have changed meanwhile. */
  async #askAbout(task: TaskRecord): Promise<boolean> {
    const { timing, timers } = this.#env;
    if (task.completedAt !== null || task.upstreamId === null) return false;
    const fresh = task.polledAt !== null && timers.monotonic() < task.polledAt + timing.readFreshMs;
    if (task.failures > 0 || fresh) return false;
    const refreshed = this.#poller.refresh(task);
    if (refreshed === undefined) return task.leaseOwner !== null;
    await new Promise<void>((resolve) => {
      const enough = timers.alarm(timing.readWaitMs, resolve);
      void refreshed.then(() => {
        enough.cancel();
        resolve();
      });
    });
    return true;
  }

  /**
   * Stops the owner's task if it is still queued: it ends as failed with the code `task_canceled` and its quota
   * comes back. Undefined when there is no such task.
   *
   * @throws Failure when the upstream did not answer; the task goes on then.
   */
  cancel(name: TaskName): Promise<CancelResult | undefined> {
    return this.#cancel(() => findTask(this.#env.store.read, name));
  }

  /** The same with a task of whatever owner, for an operator. */
  cancelAny(id: string, change: NewChange): Promise<CancelResult | undefined> {
    return this.#cancel(() => findTaskById(this.#env.store.read, id), change);
  }

  async #cancel(
    find: () => Promise<TaskRecord | undefined>,
    change?: NewChange,
  ): Promise<CancelResult | undefined> {
    const { store, drivers, channels, timers, timing, stopping } = this.#env;
    const task = await find();
    if (task === undefined) return undefined;
    if (task.state !== 'queued') return { canceled: false, task };
    const { upstreamId } = task;
    if (upstreamId !== null) {
      const driver = drivers.get(task.driver);
      const channel = channels.named(task.channel);
      if (driver?.cancel === undefined || channel === undefined) return { canceled: false, task };
      // Once the provider has heard of it there is no way back, and whoever writes the end may be another.
      if (change !== undefined)
        await store.run('recordChange', { ...change, details: { ...change.details, asked: task.channel } });
      try {
        await withinLimit(timers, timing.pollLimitMs, stopping, async (signal) =>
          driver.cancel?.({ ...task, upstreamId }, { channel, user: task.userId, signal }),
        );
      } catch (error) {
        const { kind, failure } = asDriverError(error);
        if (kind !== 'rejected') throw failure;
        return { canceled: false, task: (await find()) ?? task };
      }
      fault('cancel:answered');
    }
    const failed = await this.#changes.fail(task, taskCanceled, { overrule: true, keepKey: false, change });
    const now = failed ?? (await find());
    // A poll may have found out by itself; anything else means that it was too late.
    return now && { canceled: now.error?.code === taskCanceled.code, task: now };
  }

  /**
   * Ends a task of whatever owner by an operator's word, since its provider will never tell its end. `decide` says how, or
   * throws; it is asked again when a provider has taken the task meanwhile. `settled` is false when the task has ended
   * before. Undefined when there is no such task.
   */
  async settle(
    id: string,
    decide: (task: TaskRecord) => { end: ManualEnd; change: NewChange },
  ): Promise<{ settled: boolean; task: TaskRecord } | undefined> {
    for (;;) {
      const task = await findTaskById(this.#env.store.read, id);
      if (task === undefined) return undefined;
      if (task.completedAt !== null) return { settled: false, task };
      const { end, change } = decide(task);
      const settled = await this.#changes.settle(task, end, change);
      if (settled !== undefined) return { settled: true, task: settled };
    }
  }

  /**
   * Gives a task what it waits for; it goes on when the client leaves. Gives the task as it is then, undefined when it is
   * final. The input is on disk before the upstream is asked, so that it is not lost with the answer.
   *
   * @throws Failure when the upstream did not take it; the task waits on then
   */
  async resume(task: AcceptedTask, input: TaskInput): Promise<TaskRecord | undefined> {
    const resumed = await this.#resumption.resume(task, input);
    if (typeof resumed?.nextPollAt === 'number') this.#poller.wake(resumed.nextPollAt);
    return resumed;
  }

  /** Forgets the owner's task, which must be final. The books and the request log stay. */
  remove(name: TaskName): Promise<RemoveResult> {
    return this.#env.store.run('removeTask', name);
  }

  /** The owner's tasks after a cursor, which is a task's id. Undefined when there is no task of that id. */
  list(query: Parameters<typeof listTasks>[1]): ReturnType<typeof listTasks> {
    return listTasks(this.#env.store.read, query);
  }

  /** One page of the owner's tasks, newest first, and the number of all. */
  page(query: TaskFilter & { offset: number; limit: number }): ReturnType<typeof pageTasks> {
    return pageTasks(this.#env.store.read, query);
  }

  /** Takes one step with every task that is due now. For tests and tools; a started engine does it by itself. */
  runDue(): Promise<number> {
    return this.#poller.runDue();
  }

  /** Forgets old records and ends stranded tasks. For tests and tools, like `runDue`. */
  runHousekeeping(): Promise<{ pruned: number; expired: number }> {
    return this.#housekeeping.run();
  }
}
