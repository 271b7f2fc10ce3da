import type { Channel } from '../channels/channel.ts';
import {
  type Candidate,
  type CandidateSearch,
  candidates,
  noCandidate,
  withShortestRetryAfter,
} from '../channels/failover.ts';
import { limitFailure } from '../channels/limits.ts';
import { keyRefused } from '../keys/key-cache.ts';
import { Failure, NoChannelFailure } from '../lib/failure.ts';
import { describeBudget, describeShortage, insufficientQuota } from '../quota/insufficient-quota.ts';
import type { NewTask, NewTaskResult } from '../store/commands/new-tasks.ts';
import type { QueueRefusal, StartedTask } from '../store/commands/task-queue.ts';
import { fault } from '../store/fault-points.ts';
import { findRepeatedTask, findTaskById, type TaskRecord } from '../store/queries/tasks.ts';
import { persist } from '../store/store.ts';
import { recordReservation } from '../telemetry/quota-metrics.ts';
import { callDriver, DriverError, reportDriverError, type Submission, type TaskDriver } from './driver.ts';
import type { TaskEnvironment } from './environment.ts';
import { cancelUpstreamTask } from './poller.ts';
import { TaskQueue } from './queue.ts';
import { reservedQuotaOf } from './record-final-task.ts';
import {
  fingerprintOfClientRequest,
  LeasedTaskWriter,
  leaseDrawOf,
  mayWait,
  newTask,
  type RepeatedCreation,
  type SubmittedTask,
  storedIdempotencyKey,
  type TaskCreation,
} from './task-creation.ts';
import type { TaskTransitions } from './transitions.ts';

interface Running {
  result: Promise<TaskRecord>;
  claimedUntil: number;
}

/** Creates tasks: first the row with its reservation, then the upstream task, of which there is never a second one. */
export class Submitter {
  readonly #env: TaskEnvironment;
  readonly #changes: TaskTransitions;
  readonly #leasedTasks: LeasedTaskWriter;
  readonly #running = new Map<string, Running>();
  readonly #repeats = new Set<Promise<unknown>>();
  readonly queue: TaskQueue;

  constructor(env: TaskEnvironment, changes: TaskTransitions) {
    this.#env = env;
    this.#leasedTasks = new LeasedTaskWriter(env.store);
    this.#changes = changes;
    this.queue = new TaskQueue(env, changes, (started, isAwaited) => this.#startQueued(started, isAwaited));
  }

  /** Running submissions, and repeated requests that wait for one. */
  get running(): readonly Promise<unknown>[] {
    return [...[...this.#running.values()].map(({ result }) => result), ...this.#repeats];
  }

  /** Tasks whose submission has outlived its claim because the store was unavailable. */
  get overdue(): readonly string[] {
    const now = this.#env.timers.monotonic();
    return [...this.#running].flatMap(([id, { claimedUntil }]) => (claimedUntil <= now ? [id] : []));
  }

  async submit(creation: TaskCreation): Promise<SubmittedTask> {
    const [first] = creation.channels;
    if (first === undefined) throw noCandidate({ channels: [], scope: {}, refusals: [] });
    const driver = this.#env.drivers.get(creation.driver);
    if (driver === undefined) throw new Error(`there is no task driver named ${creation.driver}`);
    if (mayWait(creation)) requireSpending(creation.channels);
    let made = await this.#create(creation, first);
    while (made.outcome === 'replayed') {
      const task = await this.#outcomeOf(made.task);
      if (task !== undefined) return { task, replayed: true };
      made = await this.#create(creation, first);
    }
    if (made.outcome !== 'created') throw refusal(made.outcome, creation);
    recordReservation(creation.model.id, reservedQuotaOf(made.task));
    fault('submit:reserved');
    if (made.task.queuedAt !== null)
      return { task: await this.#startNow(made.task, creation), replayed: false };
    const result = this.#submitToChannels(made.task, creation, driver);
    return { task: await this.#track(made.task, result), replayed: false };
  }

  /**
   * Starts a new task of the queue, or lets it wait.
   *
   * @throws Failure also when it would have to wait and another model can serve the request. The task is dropped then
   */
  async #startNow(made: TaskRecord, { channels, hasFallback }: TaskCreation): Promise<TaskRecord> {
    const task = await this.queue.startNow(made, channels.length);
    if (task.queuedAt === null || !hasFallback) return task;
    const failure = limitFailure([{ limit: 'concurrentTasks', retryMs: 1_000 }]);
    if (await this.#changes.drop(task, failure)) throw failure;
    return this.#currentState(task);
  }

  /** Counts a submission as running until it has a result. */
  async #track({ id, nextPollAt }: TaskRecord, result: Promise<TaskRecord>): Promise<TaskRecord> {
    this.#running.set(id, { result, claimedUntil: nextPollAt ?? 0 });
    try {
      return await result;
    } finally {
      this.#running.delete(id);
    }
  }

  #startQueued(started: StartedTask, isAwaited: boolean): Promise<TaskRecord> {
    return this.#track(started.task, this.#submitQueued(started, isAwaited));
  }

  /**
   * Submits a task that left the queue to its channel. If the channel certainly did not take it, the task returns to the
   * queue, for its other channels or for a later attempt. `isAwaited`: the client that creates it waits for the response.
   *
   * @throws Failure when a client waits and no channel accepts the task, which is dropped then
   */
  async #submitQueued(
    { task, request, channels: names, excluded }: StartedTask,
    isAwaited: boolean,
  ): Promise<TaskRecord> {
    const { timing, timers, store, channels, drivers } = this.#env;
    const { id, attempt } = task;
    const channel = channels.named(task.channel);
    const driver = drivers.get(task.driver);
    const search: CandidateSearch = {
      channels: channel === undefined ? [] : [channel],
      scope: { user: task.userId, model: task.model },
      kind: 'task',
      refusals: [],
    };
    let refused: DriverError | undefined;
    if (driver !== undefined)
      for await (const candidate of candidates(search)) {
        const mark = { channel: candidate.channel.name, askedAt: timers.monotonic() };
        try {
          if (!(await persist(store, 'markSubmitted', { id, attempt, ...mark })))
            return this.#currentState(task);
          fault('submit:marked');
          const marked = { ...task, ...mark };
          const lateAt = timers.monotonic() + timing.submitLimitMs;
          const answer = await this.#send(marked, JSON.parse(request) as object, driver, candidate, lateAt);
          if (!(answer instanceof DriverError))
            return await this.#accept(marked, answer, driver, candidate.channel, true);
          refused = answer;
          if (answer.kind !== 'retryable') return await this.#endQueued(marked, answer.failure, isAwaited);
        } finally {
          candidate.attempt.finish();
        }
      }
    const tried = [...excluded, task.channel];
    const hasOthers = names.some((name) => !tried.includes(name) && channels.named(name) !== undefined);
    const isLimited = refused === undefined && search.refusals.length > 0;
    if (!hasOthers && isAwaited && !isLimited)
      return this.#endQueued(task, refused?.failure ?? noCandidate(search), true);
    const retryMs = Math.min(timing.maxPauseMs, ...search.refusals.map((refusal) => refusal.retryMs));
    const pauseMs = isLimited ? retryMs : timing.queueRetryMs;
    const again = hasOthers
      ? { excluded: tried, notBefore: timers.monotonic() }
      : { excluded: [], notBefore: timers.monotonic() + pauseMs };
    await persist(store, 'requeueTask', { id, attempt, ...again });
    this.queue.wake(again.notBefore);
    return this.#currentState(task);
  }

  /** Ends a task of the queue that a channel rejected or may have accepted. */
  async #endQueued(task: TaskRecord, failure: Failure, isAwaited: boolean): Promise<TaskRecord> {
    if (!isAwaited) {
      const { code, message } = failure;
      return (await this.#changes.fail(task, { code, message })) ?? this.#currentState(task);
    }
    if (await this.#changes.drop(task, failure)) throw failure;
    return this.#currentState(task);
  }

  /** Returns the task of an earlier identical request. Undefined: there is none, or it was dropped. */
  async findRepeated(creation: RepeatedCreation): Promise<TaskRecord | undefined> {
    const { caller, format, retryCount } = creation;
    const { store, clock } = this.#env;
    const fingerprint = await fingerprintOfClientRequest(creation);
    const idempotencyKey = storedIdempotencyKey(caller, creation.idempotencyKey ?? null);
    const { userId, tokenId } = caller;
    const task =
      idempotencyKey === null
        ? await store.run('answerRetry', { tokenId, fingerprint, retryCount, now: clock() })
        : await findRepeatedTask(store.read, { userId, format, idempotencyKey, fingerprint });
    return task && this.#outcomeOf(task);
  }

  /** @throws Failure when the key's quota does not cover the task */
  async #create(creation: TaskCreation, channel: Channel): Promise<CreatedTask> {
    const row = await newTask(this.#env, creation, channel);
    const { tokenId, amount } = row;
    const { quota, store } = this.#env;
    const leased = (lease: string) => this.#leasedTasks.add({ ...row, lease });
    // A task without a reservation does not lock the balance.
    const isFree = amount === 0 || creation.caller.unlimited === true;
    // A retry usually creates no task, and only `createTask` looks for the one that answers it.
    const isRetry = typeof row.retryCount === 'number' && row.retryCount > 0;
    const made = isFree || isRetry ? undefined : await quota.withLease(tokenId, amount, leased, leaseDrawOf);
    if (made !== undefined && made.outcome !== 'no_lease' && made.outcome !== 'duplicate') return made;
    const isRefused = ({ outcome }: NewTaskResult) => outcome === 'insufficient_quota';
    const result = await quota.withReclaim(tokenId, amount, () => this.#insert(row), isRefused);
    if (result.outcome !== 'insufficient_quota' && result.outcome !== 'over_budget') return result;
    const shortage =
      result.outcome === 'over_budget'
        ? await describeBudget(store.read, creation.caller, row.now)
        : await describeShortage(store.read, creation.caller);
    throw insufficientQuota({ ...creation, amount }, shortage);
  }

  async #insert(row: NewTask): Promise<NewTaskResult> {
    const made = await this.#env.store.run('createTask', row);
    // A conflicting task of the same idempotency key may have been dropped in the meantime.
    const isRepeatable = made.outcome === 'duplicate' && row.idempotencyKey !== null;
    return isRepeatable ? this.#env.store.run('createTask', row) : made;
  }

  async #outcomeOf(task: TaskRecord): Promise<TaskRecord | undefined> {
    const outcome = this.#waitFor(task);
    this.#repeats.add(outcome);
    return outcome.finally(() => this.#repeats.delete(outcome));
  }

  /**
   * Waits while the earlier task of a repeated request is submitted. Undefined: it was dropped before any request to
   * an upstream, so create a new one. A submission interrupted later fails, since the upstream may have the task.
   */
  async #waitFor({ id }: TaskRecord): Promise<TaskRecord | undefined> {
    const { timers, timing, store, stopping, owner } = this.#env;
    const lateAt = timers.monotonic() + timing.submitLimitMs + timing.claimMarginMs;
    for (let polls = 1; ; polls += 1) {
      const running = this.#running.get(id);
      if (running !== undefined) return running.result;
      const task = await findTaskById(store.read, id);
      if (task === undefined || task.upstreamId !== null || task.completedAt !== null) return task;
      const { leaseOwner } = task;
      if (task.queuedAt !== null) return task;
      // Claimed by this process but not running: the submission was interrupted before it began.
      if (leaseOwner === null || (leaseOwner === owner && polls > 1)) await this.#changes.interrupt(task);
      else if (stopping.aborted || timers.monotonic() >= lateAt) return task;
      else await new Promise<void>((resolve) => void timers.alarm(timing.repeatPollMs, resolve));
    }
  }

  /**
   * Submits the task to one channel after the other, until one accepts or may have accepted it.
   *
   * @throws Failure when no channel accepts the task, which is dropped then
   */
  async #submitToChannels(
    made: TaskRecord,
    { request, channels, caller, model, hasFallback }: TaskCreation,
    driver: TaskDriver,
  ): Promise<TaskRecord> {
    const { timing, timers, store } = this.#env;
    const lateAt = timers.monotonic() + timing.submitLimitMs;
    let task = made;
    const scope = { user: caller.userId, model: model.id };
    let refused: DriverError | undefined;
    const search: CandidateSearch = { channels, scope, kind: 'task', hasFallback, refusals: [] };
    for await (const candidate of candidates(search)) {
      const { channel } = candidate;
      try {
        if (task.askedAt === null || task.channel !== channel.name) {
          const { id, attempt, askedAt } = task;
          const mark = { channel: channel.name, askedAt: askedAt ?? timers.monotonic() };
          if (!(await persist(store, 'markSubmitted', { id, attempt, ...mark })))
            return this.#currentState(task);
          fault('submit:marked');
          task = { ...task, ...mark };
        }
        const answer = await this.#send(task, request, driver, candidate, lateAt);
        if (!(answer instanceof DriverError)) return this.#accept(task, answer, driver, channel);
        refused = answer;
      } finally {
        candidate.attempt.finish();
      }
      if (refused.kind !== 'retryable') break;
    }
    const failure =
      refused === undefined ? noCandidate(search) : withShortestRetryAfter(refused.failure, search);
    if (await this.#changes.drop(task, failure)) throw failure;
    return this.#currentState(task);
  }

  async #send(
    task: TaskRecord,
    request: object,
    driver: TaskDriver,
    { channel, attempt }: Candidate,
    lateAt: number,
  ): Promise<Submission | DriverError> {
    const { timers, logger } = this.#env;
    const limitMs = Math.max(1, lateAt - timers.monotonic());
    try {
      const submission = await callDriver(this.#env, task, channel, limitMs, (upstream) =>
        driver.submit(task, request, upstream),
      );
      fault('submit:answered');
      attempt.succeed();
      return submission;
    } catch (error) {
      const candidate = { channel, attempt };
      const about = { task: task.id };
      return reportDriverError(logger, error, candidate, 'upstream did not accept a task', about);
    }
  }

  async #accept(
    task: TaskRecord,
    submission: Submission,
    driver: TaskDriver,
    channel: Channel,
    wasQueued = false,
  ): Promise<TaskRecord> {
    const accepted = await this.#changes.accept(task, submission, wasQueued);
    this.#env.channels.recordSpend?.(channel.name, reservedQuotaOf(task));
    if (accepted !== undefined) return accepted;
    // The task has ended in the meantime, so its result will not be fetched.
    await cancelUpstreamTask(this.#env, { ...task, upstreamId: submission.upstreamId }, driver, channel);
    return this.#currentState(task);
  }

  /** Returns the task after another claim has changed it. */
  async #currentState({ id }: TaskRecord): Promise<TaskRecord> {
    const current = await findTaskById(this.#env.store.read, id);
    if (current !== undefined) return current;
    throw new Failure(502, 'do_request_failed', 'The task was dropped before the provider had confirmed it.');
  }
}

type CreatedTask = Exclude<NewTaskResult, { outcome: 'insufficient_quota' | 'over_budget' }>;

/** @throws Failure 429 when all channels have spent their quota of the day, because waiting could take hours */
function requireSpending(channels: readonly Channel[]): void {
  const refusals = channels.map(({ limiter }) => limiter.spendRefusal).filter((one) => one !== undefined);
  if (refusals.length === channels.length) throw limitFailure(refusals);
}

/** Seconds until a task may have left a full queue. */
const queueRetryAfter = 10;

/** A fallback of the model may serve the request, as with any other limit of its channels. */
function queueFull(outcome: QueueRefusal): Failure {
  const owner = outcome === 'queue_full' ? 'The queue of tasks' : 'The queue of tasks of your user';
  const message = `${owner} is full. Repeat after ${queueRetryAfter} seconds.`;
  return new NoChannelFailure(429, 'rate_limit_exceeded', message, { retryAfter: queueRetryAfter });
}

function refusal(
  outcome: Exclude<CreatedTask['outcome'], 'created' | 'replayed'>,
  { requestId }: TaskCreation,
): Error {
  if (outcome === 'other_request') {
    const message = 'Idempotency-Key: it was used for another request; use a new one for each request.';
    return new Failure(400, 'idempotency_key_reused', message);
  }
  if (outcome === 'key_revoked') return keyRefused();
  if (outcome === 'queue_full' || outcome === 'user_queue_full') return queueFull(outcome);
  return new Error(`request id ${requestId} was used before`);
}
