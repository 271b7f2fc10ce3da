import type { Channel } from '../channels/channel.ts';
import { type Candidate, candidates, noCandidate, withShortestRetryAfter } from '../channels/failover.ts';
import { keyRefused } from '../keys/key-cache.ts';
import { Failure } from '../lib/failure.ts';
import { withinLimit } from '../lib/timers.ts';
import type { NewTask, NewTaskResult } from '../store/commands/new-tasks.ts';
import { fault } from '../store/fault-points.ts';
import { findRepeatedTask, findTaskById, type TaskRecord } from '../store/queries/tasks.ts';
import { persist } from '../store/store.ts';
import { recordReservation } from '../telemetry/quota-metrics.ts';
import { type DriverError, noteDriverError, type Submission, type TaskDriver } from './driver.ts';
import type { TaskEnvironment } from './environment.ts';
import { LeasedTaskWriter, leaseDrawOf } from './leased-task-writer.ts';
import { reservedQuotaOf } from './record-final-task.ts';
import { among } from './running.ts';
import {
  fingerprintOfAsked,
  newTask,
  type RepeatedOrder,
  type SubmittedTask,
  storedIdempotencyKey,
  type TaskCreation,
} from './task-creation.ts';
import { abandon } from './task-step.ts';
import type { TaskTransitions } from './transitions.ts';

interface Running {
  result: Promise<TaskRecord>;
  leaseUntil: number;
}

/** Makes tasks: row and reservation first, then the upstream, which is never asked for a second one. */
export class Submitter {
  readonly #env: TaskEnvironment;
  readonly #changes: TaskTransitions;
  readonly #leased: LeasedTaskWriter;
  readonly #running = new Map<string, Running>();
  readonly #repeats = new Set<Promise<unknown>>();

  constructor(env: TaskEnvironment, changes: TaskTransitions) {
    this.#env = env;
    this.#leased = new LeasedTaskWriter(env.store);
    this.#changes = changes;
  }

  /** Submissions that a client waits for, and repeats that wait for one elsewhere. */
  get running(): readonly Promise<unknown>[] {
    return [...[...this.#running.values()].map(({ result }) => result), ...this.#repeats];
  }

  /** The tasks whose submission has outlived its lease, since the store was away when it was to be written down. */
  get late(): readonly string[] {
    const now = this.#env.timers.monotonic();
    return [...this.#running].flatMap(([id, { leaseUntil }]) => (leaseUntil <= now ? [id] : []));
  }

  async submit(order: TaskCreation): Promise<SubmittedTask> {
    const [first] = order.channels;
    if (first === undefined) throw noCandidate([], {});
    const driver = this.#env.drivers.get(order.driver);
    if (driver === undefined) throw new Error(`there is no task driver named ${order.driver}`);
    let made = await this.#create(order, first);
    while (made.outcome === 'replayed') {
      const task = await this.#outcomeOf(made.task);
      if (task !== undefined) return { task, replayed: true };
      made = await this.#create(order, first);
    }
    if (made.outcome !== 'created') throw refusal(made.outcome, order);
    recordReservation(order.model.id, reservedQuotaOf(made.task));
    fault('submit:reserved');
    const { id, nextPollAt } = made.task;
    const result = this.#place(made.task, order, driver);
    this.#running.set(id, { result, leaseUntil: nextPollAt ?? 0 });
    try {
      return { task: await result, replayed: false };
    } finally {
      this.#running.delete(id);
    }
  }

  /** The task of an earlier order of the same; undefined when there is none, or it came to nothing. */
  async repeated(order: RepeatedOrder): Promise<TaskRecord | undefined> {
    const { caller, format } = order;
    const fingerprint = await fingerprintOfAsked(order);
    const idempotencyKey = storedIdempotencyKey(caller, order.idempotencyKey);
    const name = { userId: caller.userId, format, idempotencyKey, fingerprint };
    const task = await findRepeatedTask(this.#env.store.read, name);
    return task && this.#outcomeOf(task);
  }

  async #create(order: TaskCreation, channel: Channel): Promise<NewTaskResult> {
    const row = await newTask(this.#env, order, channel);
    const { tokenId, amount } = row;
    const { quota } = this.#env;
    const leased = (lease: string) => this.#leased.add({ ...row, lease });
    // What holds nothing waits for no balance.
    const isFree = amount === 0 || order.caller.unlimited === true;
    const made = isFree ? undefined : await quota.withLease(tokenId, amount, leased, leaseDrawOf);
    if (made !== undefined && made.outcome !== 'no_lease' && made.outcome !== 'duplicate') return made;
    const isRefused = ({ outcome }: NewTaskResult) => outcome === 'insufficient_quota';
    return quota.withReclaim(tokenId, amount, () => this.#insert(row), isRefused);
  }

  async #insert(row: NewTask): Promise<NewTaskResult> {
    const made = await this.#env.store.run('createTask', row);
    // What was in its way for a moment, under the same idempotency key, may be gone.
    const again = made.outcome === 'duplicate' && row.idempotencyKey !== null;
    return again ? this.#env.store.run('createTask', row) : made;
  }

  #outcomeOf(task: TaskRecord): Promise<TaskRecord | undefined> {
    return among(this.#repeats, this.#waitFor(task));
  }

  /**
   * Waits while somebody is submitting an earlier task of the same idempotency key. Undefined when it came to nothing
   * before any upstream was asked for it, so that it is to be made anew. One that was cut off later fails: whether the
   * upstream has it cannot be known.
   */
  async #waitFor({ id }: TaskRecord): Promise<TaskRecord | undefined> {
    const { timers, timing, store, stopping, owner } = this.#env;
    const lateAt = timers.monotonic() + timing.submitLimitMs + timing.leaseMarginMs;
    for (let looks = 1; ; looks += 1) {
      const running = this.#running.get(id);
      if (running !== undefined) return running.result;
      const task = await findTaskById(store.read, id);
      if (task === undefined || task.upstreamId !== null || task.completedAt !== null) return task;
      const { leaseOwner } = task;
      // Under a lease of this process and not in its hands: it was cut off before it began.
      if (leaseOwner === null || (leaseOwner === owner && looks > 1)) await this.#changes.interrupt(task);
      else if (stopping.aborted || timers.monotonic() >= lateAt) return task;
      else await new Promise<void>((resolve) => void timers.alarm(timing.repeatLookMs, resolve));
    }
  }

  /**
   * Asks the channels in turn until one takes the task, or may have taken it.
   *
   * @throws Failure what the client gets when the task is not made; then there is no such task any more.
   */
  async #place(
    made: TaskRecord,
    { request, channels, caller, model }: TaskCreation,
    driver: TaskDriver,
  ): Promise<TaskRecord> {
    const { timing, timers, store } = this.#env;
    const lateAt = timers.monotonic() + timing.submitLimitMs;
    let task = made;
    const asked = { user: caller.userId, model: model.id };
    let refused: DriverError | undefined;
    for (const turn of candidates(channels, asked)) {
      const { channel } = turn;
      try {
        if (task.askedAt === null || task.channel !== channel.name) {
          const { id, attempt, askedAt } = task;
          const mark = { channel: channel.name, askedAt: askedAt ?? timers.monotonic() };
          if (!(await persist(store, 'markSubmitted', { id, attempt, ...mark })))
            return this.#overtaken(task);
          fault('submit:marked');
          task = { ...task, ...mark };
        }
        const answer = await this.#ask(task, request, driver, turn, lateAt);
        if ('submission' in answer) return this.#accept(task, answer.submission, driver, channel);
        refused = answer.refused;
      } finally {
        turn.attempt.finish();
      }
      if (refused.kind !== 'retryable') break;
    }
    const failure =
      refused === undefined
        ? noCandidate(channels, asked)
        : withShortestRetryAfter(refused.failure, channels, asked);
    if (await this.#changes.drop(task, failure)) throw failure;
    return this.#overtaken(task);
  }

  async #ask(
    task: TaskRecord,
    request: object,
    driver: TaskDriver,
    { channel, attempt }: Candidate,
    lateAt: number,
  ): Promise<{ submission: Submission } | { refused: DriverError }> {
    const { timers, stopping, logger } = this.#env;
    const limitMs = Math.max(1, lateAt - timers.monotonic());
    try {
      const submission = await withinLimit(timers, limitMs, stopping, (signal) =>
        driver.submit(task, request, { channel, user: task.userId, signal }),
      );
      fault('submit:answered');
      attempt.succeed();
      return { submission };
    } catch (error) {
      const about = { task: task.id };
      return {
        refused: noteDriverError(logger, error, { channel, attempt }, 'upstream did not take a task', about),
      };
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
    // The task was ended meanwhile, so nobody will ever fetch what the upstream makes.
    await abandon(this.#env, { ...task, upstreamId: submission.upstreamId }, driver, channel);
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
}

function refusal(
  outcome: Exclude<NewTaskResult['outcome'], 'created' | 'replayed'>,
  { requestId, expectedUnits, model }: TaskCreation,
): Error {
  if (outcome === 'insufficient_quota') {
    const need = `${expectedUnits} ${model.unit} of ${model.id}`;
    const message = `quota: the key's remaining quota does not cover this call; it needs ${need}.`;
    return new Failure(403, 'insufficient_user_quota', message);
  }
  if (outcome === 'other_request') {
    const message = 'Idempotency-Key: it was used for another request; use a new one for each request.';
    return new Failure(400, 'idempotency_key_reused', message);
  }
  if (outcome === 'key_revoked') return keyRefused();
  return new Error(`request id ${requestId} was used before`);
}
