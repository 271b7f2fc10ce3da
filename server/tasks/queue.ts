import { ClaimLoop } from '../store/claim-loop.ts';
import type { QueueChannel, StartedTask } from '../store/commands/task-queue.ts';
import { hasQueuedTasks, queuePositions } from '../store/queries/task-queue.ts';
import type { QueuePlace, TaskRecord } from '../store/queries/tasks.ts';
import { findTaskById } from '../store/queries/tasks.ts';
import { taskQueueDuration } from '../telemetry/metrics.ts';
import { runInContext } from '../telemetry/telemetry-context.ts';
import { startLinkedTrace } from '../telemetry/trace.ts';
import { taskNotStarted } from './driver.ts';
import type { TaskEnvironment } from './environment.ts';
import type { TaskTransitions } from './transitions.ts';

/** Submits a task that left the queue. `isAwaited`: the client that creates it waits for the response. */
type SubmitQueued = (started: StartedTask, isAwaited: boolean) => Promise<TaskRecord>;

/** Tasks that one transaction starts. */
const batchSize = 50;

/** Weight of the latest task in the average duration of the tasks of a channel. */
const smoothing = 0.2;

/**
 * The queue of tasks that wait for a place within the limits of a channel. The store has it, so it survives the gateway, and
 * every gateway starts tasks of it. Users share the places: the one with the fewest unfinished tasks comes first.
 */
export class TaskQueue {
  readonly #env: TaskEnvironment;
  readonly #changes: TaskTransitions;
  readonly #submit: SubmitQueued;
  readonly #loop: ClaimLoop;
  readonly #running = new Map<string, Promise<TaskRecord>>();
  /** Tasks whose creation waits for the response of the provider. */
  readonly #awaited = new Set<string>();
  /** Average time between the submission and the end of completed tasks, in milliseconds, by channel. */
  readonly #durations = new Map<string, number>();
  #current: Promise<unknown> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(env: TaskEnvironment, changes: TaskTransitions, submit: SubmitQueued) {
    this.#env = env;
    this.#changes = changes;
    this.#submit = submit;
    const { timers, timing, logger } = env;
    this.#loop = new ClaimLoop({
      timers,
      gapMs: timing.claimGapMs,
      idleMs: timing.idleMs,
      claim: async () => {
        await this.dispatch();
        return Number.POSITIVE_INFINITY;
      },
      onError: (error) => logger.error({ err: error }, 'tasks in the queue could not be started'),
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Resolves when no more tasks leave the queue. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    await this.#current;
  }

  /** Schedules a check for free places. */
  wake(at?: number): void {
    this.#loop.wake(at);
  }

  /** Records the end of a task, which frees a place. */
  ended({ channel, state, askedAt }: Pick<TaskRecord, 'channel' | 'state' | 'askedAt'>): void {
    if (state === 'completed' && askedAt !== null) {
      const duration = Math.max(1, this.#env.timers.monotonic() - askedAt);
      const average = this.#durations.get(channel) ?? duration;
      this.#durations.set(channel, average + smoothing * (duration - average));
    }
    this.wake();
  }

  /**
   * Starts a new task at once if there is a place, also after other channels refused it. Returns the task, which waits in the
   * queue otherwise.
   *
   * @throws Failure when there is a place and no channel accepts the task
   */
  async startNow(task: TaskRecord, channelCount: number): Promise<TaskRecord> {
    const { id } = task;
    this.#awaited.add(id);
    try {
      for (let round = 0; round < channelCount; round += 1) {
        await this.dispatch();
        const running = this.#running.get(id);
        if (running === undefined) break;
        const current = await running;
        if (current.queuedAt === null) return current;
      }
    } finally {
      this.#awaited.delete(id);
    }
    const current = (await findTaskById(this.#env.store.read, id)) ?? task;
    return (await this.withPlaces([current]))[0] ?? current;
  }

  /** Adds the places of waiting tasks. */
  async withPlaces(tasks: readonly TaskRecord[]): Promise<TaskRecord[]> {
    const places = await this.placesOf(tasks.flatMap(({ id, queuedAt }) => (queuedAt === null ? [] : id)));
    return tasks.map((task) => {
      const queue = places.get(task.id);
      return queue === undefined ? task : { ...task, queue };
    });
  }

  /** Finds the places of waiting tasks by their ids. */
  async placesOf(ids: readonly string[]): Promise<Map<string, QueuePlace>> {
    if (ids.length === 0) return new Map();
    const found = await queuePositions(this.#env.store.read, ids);
    return new Map(
      found.map(({ task_id: id, position, channels }) => {
        const perMs = this.#startsPerMs(JSON.parse(channels) as string[]);
        const estimatedStartAt = perMs === 0 ? null : Math.ceil(this.#env.clock() + position / perMs);
        return [id, { position, estimatedStartAt }];
      }),
    );
  }

  /** Starts per millisecond that the limits allow at the average duration of tasks. 0: unknown. */
  #startsPerMs(names: readonly string[]): number {
    return names.reduce((total, name) => {
      const { concurrentTasks, requestsPerMinute } = this.#env.channels.named(name)?.limiter.limits ?? {};
      const duration = this.#durations.get(name);
      const byTasks =
        concurrentTasks === undefined || duration === undefined ? 0 : concurrentTasks / duration;
      const byRequests = requestsPerMinute === undefined ? 0 : requestsPerMinute / 60_000;
      const known = [byTasks, byRequests].filter((rate) => rate > 0);
      return total + (known.length === 0 ? 0 : Math.min(...known));
    }, 0);
  }

  /** Starts as many tasks as there are places, and fails those that waited too long. Runs follow one another. */
  dispatch(): Promise<void> {
    this.#next ??= this.#current.then(() => {
      this.#next = undefined;
      const run = this.#run();
      this.#current = run.catch(() => {});
      return run;
    });
    return this.#next;
  }

  async #run(): Promise<void> {
    const { store, owner, timers, timing } = this.#env;
    if (!(await hasQueuedTasks(store.read))) return;
    for (;;) {
      const now = timers.monotonic();
      const { started, late } = await store.run('startQueuedTasks', {
        channels: this.#capacities(),
        owner,
        now,
        until: now + timing.submitLimitMs + timing.claimMarginMs,
        limit: batchSize,
      });
      for (const one of started) this.#start(one);
      for (const task of late) await this.#changes.fail(task, taskNotStarted, { keepKey: false });
      if (started.length < batchSize && late.length < batchSize) return;
    }
  }

  #capacities(): QueueChannel[] {
    const { channels } = this.#env;
    return channels.names.flatMap((name) => {
      const channel = channels.named(name);
      if (channel === undefined || channels.isEnabled?.(name) === false) return [];
      const { limiter, health } = channel;
      return {
        channel: name,
        isHealthy: health.isHealthy,
        maxTasks: limiter.limits.concurrentTasks ?? null,
        maxStarts: limiter.spendRefusal === undefined ? (limiter.remainingRequests ?? null) : 0,
      };
    });
  }

  #start(started: StartedTask): void {
    const { id, requestId, traceparent, channel } = started.task;
    const waitedMs = this.#env.timers.monotonic() - started.queuedAt;
    taskQueueDuration.record(Math.max(0, waitedMs) / 1e3, { 'unigate.channel': channel });
    const isAwaited = this.#awaited.has(id);
    // A trace of its own, because the trace of the request may have ended with its response.
    const trace = startLinkedTrace('submit task', traceparent, {
      'unigate.task.id': id,
      'unigate.channel': channel,
    });
    const running = runInContext({ requestId, trace }, () => this.#submit(started, isAwaited));
    this.#running.set(id, running);
    running
      .catch((error: unknown) => {
        // The client that waits gets the error. Otherwise the claim expires, and the task returns to the queue.
        if (isAwaited || this.#env.stopping.aborted) return;
        this.#env.logger.error({ err: error, task: id }, 'a task in the queue could not be submitted');
      })
      .finally(() => {
        if (this.#running.get(id) === running) this.#running.delete(id);
        trace?.end();
        this.wake();
      });
  }
}
