import { randomUUID } from 'node:crypto';
import type { NewChange } from '../store/commands/changes.ts';
import type { RemoveResult } from '../store/commands/tasks.ts';
import { fault } from '../store/fault-points.ts';
import {
  findTask,
  findTaskById,
  findTasks,
  listTasks,
  pageTasks,
  type QueuePlace,
  type TaskFilter,
  type TaskName,
  type TaskRecord,
} from '../store/queries/tasks.ts';
import { type AcceptedTask, asDriverError, callDriver, taskCanceled } from './driver.ts';
import { type ChangedTask, environment, type TaskEnvironment, type TaskOptions } from './environment.ts';
import { Housekeeping } from './housekeeping.ts';
import { Poller } from './poller.ts';
import { type ResumeInput, resumeTask } from './resumption.ts';
import { Submitter } from './submitter.ts';
import type { RepeatedCreation, SubmittedTask, TaskCreation } from './task-creation.ts';
import { type ManualEnd, TaskTransitions } from './transitions.ts';

export interface CancelResult {
  /** False: it has started, has ended, or its upstream cannot cancel tasks. */
  canceled: boolean;
  task: TaskRecord;
}

/**
 * Asynchronous work of upstreams: creates tasks, polls them to their end, settles them once and shows them to their
 * owner only.
 *
 * @example
 * const tasks = new Tasks({ store, drivers, channels, priceTerms, logger });
 * await tasks.start();
 * const { task } = await tasks.submit(creation);
 * const now = await tasks.read({ id: task.id, userId: caller.userId, format: 'videos' });
 */
export class Tasks {
  readonly #env: TaskEnvironment;
  readonly #stopping = new AbortController();
  readonly #changes: TaskTransitions;
  readonly #submitter: Submitter;
  readonly #poller: Poller;
  readonly #housekeeping: Housekeeping;
  readonly #resuming = new Set<Promise<unknown>>();

  constructor(options: TaskOptions) {
    const { onChange = () => {} } = options;
    const announce = (task: ChangedTask) => {
      if (task.state === 'completed' || task.state === 'failed') this.#submitter.queue.ended(task);
      onChange(task);
    };
    const watched = { ...options, onChange: announce };
    this.#env = environment(watched, this.#stopping.signal, `gateway_${randomUUID()}`);
    this.#changes = new TaskTransitions(this.#env);
    this.#submitter = new Submitter(this.#env, this.#changes);
    this.#poller = new Poller(this.#env, this.#changes, () => this.#submitter.overdue);
    this.#housekeeping = new Housekeeping(this.#env, this.#poller);
  }

  /** Resumes unfinished tasks of earlier runs and polls all tasks from now on. */
  async start(): Promise<void> {
    await this.#housekeeping.repairDue();
    this.#poller.start();
    this.#submitter.queue.start();
    this.#housekeeping.start();
  }

  /** Stops claiming, waits up to `graceMs` milliseconds for running work and releases the rest to other gateways. */
  async stop(graceMs = 5_000): Promise<void> {
    const { store, timers, owner } = this.#env;
    await Promise.all([this.#poller.stop(), this.#submitter.queue.stop()]);
    const cutOff = timers.alarm(graceMs, () => this.#stopping.abort(new Error('the gateway stops')));
    const { inFlight } = this.#poller;
    const { running } = this.#submitter;
    await Promise.allSettled([...inFlight, ...running, ...this.#resuming, this.#housekeeping.stop()]);
    cutOff.cancel();
    await store.run('releaseTasks', { owner, now: timers.monotonic() });
  }

  /**
   * Creates a task. When it resolves, the task is on disk and its id can be returned. The submission continues if the
   * client disconnects.
   *
   * @throws Failure 403 without enough quota, 400 for a reused idempotency key, 503 without a channel, or the failure of
   *   the driver. The task and its reservation are removed then.
   */
  async submit(creation: TaskCreation): Promise<SubmittedTask> {
    const submitted = await this.#submitter.submit(creation);
    if (submitted.task.nextPollAt !== null) this.#poller.wake(submitted.task.nextPollAt);
    return submitted;
  }

  /** Returns the task of an earlier identical request, identified by the client's body. */
  findRepeated(creation: RepeatedCreation): Promise<TaskRecord | undefined> {
    return this.#submitter.findRepeated(creation);
  }

  /**
   * Returns the owner's task of that format, or undefined. Polls a stale task first and waits a short time for the
   * result.
   */
  async read(name: TaskName): Promise<TaskRecord | undefined> {
    const { read } = this.#env.store;
    const task = await findTask(read, name);
    if (task === undefined) return undefined;
    const current = (await this.#refreshIfStale(task)) ? await findTask(read, name) : task;
    return current && this.#withPlace(current);
  }

  /** Returns several tasks in no particular order, without those of other owners. */
  async readAll(names: Parameters<typeof findTasks>[1]): Promise<TaskRecord[]> {
    const { read } = this.#env.store;
    const tasks = await findTasks(read, names);
    const refreshed = await Promise.all(tasks.map((task) => this.#refreshIfStale(task)));
    return this.#submitter.queue.withPlaces(refreshed.includes(true) ? await findTasks(read, names) : tasks);
  }

  async #withPlace(task: TaskRecord): Promise<TaskRecord> {
    if (task.queuedAt === null) return task;
    return (await this.#submitter.queue.withPlaces([task]))[0] ?? task;
  }

  /** Returns the places of waiting tasks by their ids. */
  queuePlaces(ids: readonly string[]): Promise<Map<string, QueuePlace>> {
    return this.#submitter.queue.placesOf(ids);
  }

  /** Starts waiting tasks as far as limits allow. For changed limits, tests and tools; `start` does it periodically. */
  runQueue(): Promise<void> {
    return this.#submitter.queue.dispatch();
  }

  /** Polls a task whose last poll is old. Returns whether its row may have changed. */
  async #refreshIfStale(task: TaskRecord): Promise<boolean> {
    const { timing, timers } = this.#env;
    if (task.completedAt !== null || task.upstreamId === null) return false;
    const isFresh = task.polledAt !== null && timers.monotonic() < task.polledAt + timing.readFreshMs;
    if (task.failures > 0 || isFresh) return false;
    const refreshed = this.#poller.refresh(task);
    if (refreshed === undefined) return task.leaseOwner !== null;
    await new Promise<void>((resolve) => {
      const timeout = timers.alarm(timing.readWaitMs, resolve);
      void refreshed.then(() => {
        timeout.cancel();
        resolve();
      });
    });
    return true;
  }

  /**
   * Cancels the owner's task if it is still queued. The task fails with the code `task_canceled`, and its reservation is
   * refunded. Undefined: there is no such task.
   *
   * @throws Failure when the upstream did not respond; the task continues then
   */
  cancel(name: TaskName): Promise<CancelResult | undefined> {
    return this.#cancel(() => findTask(this.#env.store.read, name));
  }

  /** Cancels a task of any owner, for an operator. */
  cancelAny(id: string, change: NewChange): Promise<CancelResult | undefined> {
    return this.#cancel(() => findTaskById(this.#env.store.read, id), change);
  }

  async #cancel(
    find: () => Promise<TaskRecord | undefined>,
    change?: NewChange,
  ): Promise<CancelResult | undefined> {
    const { store, drivers, channels, timing } = this.#env;
    const task = await find();
    if (task === undefined) return undefined;
    if (task.state !== 'queued') return { canceled: false, task };
    const { upstreamId } = task;
    if (upstreamId !== null) {
      const driver = drivers.get(task.driver);
      const channel = channels.named(task.channel);
      if (driver?.cancel === undefined || channel === undefined) return { canceled: false, task };
      // Recorded before the request to the provider, because another gateway may write the end of the task.
      if (change !== undefined)
        await store.run('recordChange', { ...change, details: { ...change.details, asked: task.channel } });
      try {
        await callDriver(this.#env, task, channel, timing.pollLimitMs, (upstream) =>
          driver.cancel?.({ ...task, upstreamId }, upstream),
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
    // A poll may have detected the cancellation first. Any other end means that it was too late.
    return now && { canceled: now.error?.code === taskCanceled.code, task: now };
  }

  /**
   * Ends a task of any owner on behalf of an operator, when its provider never reports an end. `decide` returns the end or
   * throws; it runs again if a provider has accepted the task in the meantime. `ended` is false when the task was already
   * final. Undefined: there is no such task.
   */
  async endManually(
    id: string,
    decide: (task: TaskRecord) => { end: ManualEnd; change: NewChange },
  ): Promise<{ ended: boolean; task: TaskRecord } | undefined> {
    for (;;) {
      const task = await findTaskById(this.#env.store.read, id);
      if (task === undefined) return undefined;
      if (task.completedAt !== null) return { ended: false, task };
      const { end, change } = decide(task);
      const final = await this.#changes.endManually(task, end, change);
      if (final !== undefined) return { ended: true, task: final };
    }
  }

  /**
   * Sends a task the input that it waits for. Returns the resumed task, or undefined when it is final. The input is on disk
   * before the request to the upstream, and the call continues if the client disconnects.
   *
   * @throws Failure when the upstream does not accept the input; the task keeps waiting then
   */
  async resume(task: AcceptedTask, input: ResumeInput): Promise<TaskRecord | undefined> {
    const resuming = resumeTask(this.#env, task, input);
    this.#resuming.add(resuming);
    const resumed = await resuming.finally(() => this.#resuming.delete(resuming));
    if (typeof resumed?.nextPollAt === 'number') this.#poller.wake(resumed.nextPollAt);
    return resumed;
  }

  /** Deletes the owner's task, which must be final. The ledger and the request log stay. */
  remove(name: TaskName): Promise<RemoveResult> {
    return this.#env.store.run('removeTask', name);
  }

  /** Returns the owner's tasks after a cursor, which is a task id. Undefined: the cursor is unknown. */
  async list(query: Parameters<typeof listTasks>[1]): ReturnType<typeof listTasks> {
    const found = await listTasks(this.#env.store.read, query);
    return found && { ...found, tasks: await this.#submitter.queue.withPlaces(found.tasks) };
  }

  /** Returns one page of the owner's tasks, newest first, and their total number. */
  async page(query: TaskFilter & { offset: number; limit: number }): ReturnType<typeof pageTasks> {
    const found = await pageTasks(this.#env.store.read, query);
    return { ...found, tasks: await this.#submitter.queue.withPlaces(found.tasks) };
  }

  /** Runs one step of every due task. For tests and tools; `start` does it periodically. */
  runDue(): Promise<number> {
    return this.#poller.runDue();
  }

  /** Prunes old tasks and ends stranded ones. For tests and tools, like `runDue`. */
  runHousekeeping(): Promise<{ pruned: number; expired: number }> {
    return this.#housekeeping.run();
  }
}
