import type { Failure, TaskError } from '../lib/failure.ts';
import { isPlausible } from '../models/usage.ts';
import { costOf } from '../quota/prices.ts';
import type { NewChange } from '../store/commands/changes.ts';
import type { TaskEnd } from '../store/commands/tasks.ts';
import { fault } from '../store/fault-points.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import { persist } from '../store/store.ts';
import { recordSettlement } from '../telemetry/quota-metrics.ts';
import {
  type Snapshot,
  type Submission,
  submissionInterrupted,
  type TaskUsage,
  taskCanceled,
} from './driver.ts';
import type { ChangedTask, TaskEnvironment } from './environment.ts';
import { PollRecorder } from './poll-recorder.ts';
import { recordFinalTask, reservedQuotaOf } from './record-final-task.ts';
import { jittered, longer, retryPause } from './timing.ts';

type Unfinished = Extract<Snapshot, { state: 'queued' | 'in_progress' }>;
type Completed = Extract<Snapshot, { state: 'completed' }>;

/** How an operator ends a task. */
export type ManualEnd =
  | { outcome: 'failed'; error: TaskError }
  | {
      outcome: 'completed';
      /** In the model's unit; at the most what was reserved. */
      units: number;
      /** Absent: what is kept of it already. */
      result?: Readonly<Record<string, unknown>> | undefined;
    };

/** Every way a task changes once it exists. Each is one transaction, and nothing of a claim that was overtaken. */
export class TaskTransitions {
  readonly #env: TaskEnvironment;
  readonly #recorder: PollRecorder;

  constructor(env: TaskEnvironment) {
    this.#env = env;
    this.#recorder = new PollRecorder(env.store);
  }

  /** Undefined when the claim was overtaken: the upstream task is not ours to follow then. */
  async accept(task: TaskRecord, submission: Submission): Promise<TaskRecord | undefined> {
    const { timing, timers, store, clock } = this.#env;
    const dueNow = timers.monotonic();
    const accepted = await persist(store, 'acceptTask', {
      id: task.id,
      attempt: task.attempt,
      upstreamId: submission.upstreamId,
      state: submission.state ?? 'queued',
      progress: percent(submission.progress),
      result: submission.result === undefined ? null : JSON.stringify(submission.result),
      nextPollAt: dueNow + this.#pause(timing.firstPollMs, submission.pollAfterMs),
      now: clock(),
      dueNow,
    });
    fault('submit:accepted');
    if (accepted !== undefined) this.#announce(accepted);
    return accepted;
  }

  /**
   * Notes that the task is not final yet. `early`: a reader asked, which is no reason to ask less often. Gives when
   * it is due again.
   */
  async progress(task: TaskRecord, snapshot: Unfinished, { early }: { early: boolean }): Promise<number> {
    const { timing, timers, clock } = this.#env;
    const [now, dueNow] = [clock(), timers.monotonic()];
    const pollInterval = early ? task.pollInterval : longer(task.pollInterval, timing);
    const pause = this.#pause(task.pollInterval, snapshot.pollAfterMs);
    const { state } = snapshot;
    const progress = Math.max(task.progress, percent(snapshot.progress));
    // What is not final at the deadline has failed, so it is asked for just then.
    const nextPollAt = Math.min(dueNow + pause, task.deadlineAt);
    const written = await this.#recorder.add({
      id: task.id,
      attempt: task.attempt,
      state,
      progress,
      result: snapshot.result === undefined ? null : JSON.stringify(snapshot.result),
      clips: snapshot.clips,
      failures: 0,
      pollInterval,
      polledAt: dueNow,
      nextPollAt,
      now,
    });
    fault('poll:recorded');
    if (written && task.state === 'queued' && state === 'in_progress') {
      this.#announce({ ...task, state, progress });
    }
    return nextPollAt;
  }

  /**
   * Notes that nothing was learned, and tries again later each time. `retryAfter`: seconds the upstream asks for. Gives
   * when it is due again.
   */
  async postpone(task: TaskRecord, retryAfter = 0): Promise<number> {
    const { timing, timers, clock } = this.#env;
    const failures = task.failures + 1;
    const pause = this.#pause(retryPause(failures, timing), retryAfter * 1_000);
    const nextPollAt = Math.min(timers.monotonic() + pause, task.deadlineAt);
    const { id, attempt, progress, pollInterval } = task;
    await this.#recorder.add({
      id,
      attempt,
      // It does not go back from where it is.
      state: 'queued',
      progress,
      result: null,
      failures,
      pollInterval,
      polledAt: null,
      nextPollAt,
      now: clock(),
    });
    return nextPollAt;
  }

  /**
   * Charges the reported usage at the price of the task's creation, also beyond the reservation. A report that is a fault
   * of the provider is charged as the reservation, which is the upper bound.
   */
  complete(task: TaskRecord, { result, clips, usage, resultMs }: Completed): Promise<TaskRecord | undefined> {
    const used = usage === undefined ? { units: task.expectedUnits } : this.#chargeable(task, usage);
    const { units, inputTokens = 0, outputTokens = 0 } = used;
    const charge = { quota: costOf(units, task), units, inputTokens, outputTokens };
    const end = { attempt: task.attempt, result: JSON.stringify(result), clips, error: null, charge };
    return this.#finish(task, end, resultMs);
  }

  #chargeable(task: TaskRecord, usage: TaskUsage): TaskUsage {
    const { id, requestId, channel, expectedUnits } = task;
    if (!usable(usage, task.unitPrice * task.groupRatio)) {
      this.#env.logger.error(
        { task: id, usage },
        'a driver reported no usable usage; charging what was held',
      );
      return { units: expectedUnits };
    }
    if (isPlausible(usage.units, expectedUnits)) return usage;
    this.#env.logger.warn(
      { task: id, request_id: requestId, channel, reported: usage.units, bound: expectedUnits },
      'the reported usage is not plausible for the task; charging the upper bound',
    );
    return { units: expectedUnits };
  }

  /** Gives the reservation back. `overrule` also stops whoever is at work on the task. */
  fail(
    task: TaskRecord,
    { code, message }: { code: string; message: string },
    {
      result,
      overrule = false,
      // What a provider may have been asked for is not to be made again.
      keepKey = task.askedAt !== null,
      change,
    }: {
      result?: Readonly<Record<string, unknown>>;
      overrule?: boolean;
      keepKey?: boolean;
      change?: NewChange | undefined;
    } = {},
  ): Promise<TaskRecord | undefined> {
    return this.#finish(task, {
      attempt: overrule ? null : task.attempt,
      onlyUnaccepted: task.upstreamId === null,
      result: result === undefined ? null : JSON.stringify(result),
      error: { code: storable(code), message: storable(message) },
      isCanceled: code === taskCanceled.code,
      keepKey,
      charge: null,
      change,
    });
  }

  /**
   * Ends a task by an operator's word, whoever is at work on it. What it costs must not be more than was held. Undefined when
   * it is final, or an upstream has taken it since.
   */
  settle(task: TaskRecord, end: ManualEnd, change: NewChange): Promise<TaskRecord | undefined> {
    if (end.outcome === 'failed') return this.fail(task, end.error, { overrule: true, change });
    const { units, result } = end;
    return this.#finish(task, {
      attempt: null,
      result: result === undefined ? null : JSON.stringify(result),
      error: null,
      charge: { quota: costOf(units, task), units, inputTokens: 0, outputTokens: 0 },
      change,
    });
  }

  /** Undoes a task whose making is refused to the client. False when the claim was overtaken. */
  drop(task: TaskRecord, { status, code }: Pick<Failure, 'status' | 'code'>): Promise<boolean> {
    const { id, attempt, channel } = task;
    const now = this.#env.clock();
    const refused = { id, attempt, channel, status, errorCode: storable(code), now };
    return persist(this.#env.store, 'dropTask', refused).then((dropped) => {
      if (dropped) recordSettlement(task.model, reservedQuotaOf(task), { charged: 0, debt: 0 });
      return dropped;
    });
  }

  /** Ends a task whose submission was cut off. One that no upstream was asked for is undone: nobody has its id. */
  async interrupt(task: TaskRecord): Promise<void> {
    if (task.askedAt === null) await this.drop(task, { status: 503, code: submissionInterrupted.code });
    else await this.fail(task, submissionInterrupted);
  }

  /** So long, or as long as the upstream asks for, within bounds. */
  #pause(ms: number, askedMs?: number): number {
    const { timing, random } = this.#env;
    return Math.min(timing.maxPauseMs, Math.max(jittered(ms, random), wholeMs(askedMs)));
  }

  async #finish(
    { id }: TaskRecord,
    end: Omit<TaskEnd, 'id' | 'now' | 'dueNow' | 'expiresAt'>,
    resultMs = this.#env.timing.resultMs,
  ): Promise<TaskRecord | undefined> {
    const { store, logger, timers, clock } = this.#env;
    const now = clock();
    fault('settle:before');
    const times = { expiresAt: now + resultMs, now, dueNow: timers.monotonic() };
    const finished = await persist(store, 'finishTask', { ...end, id, ...times });
    fault('settle:after');
    if (finished === undefined) return undefined;
    const { task, booked } = finished;
    if (booked === undefined) logger.error({ task: id }, 'the reservation was closed before its task ended');
    else if (booked.debt > 0)
      logger.warn(
        { task: id, request_id: task.requestId, ...booked },
        'the key had too little quota left for a finished task; the rest is recorded as its debt',
      );
    recordFinalTask(task, booked);
    this.#announce(task);
    return task;
  }

  #announce(task: ChangedTask): void {
    try {
      this.#env.onChange(task);
    } catch (error) {
      this.#env.logger.error({ err: error, task: task.id }, 'a listener failed on a change of a task');
    }
  }
}

/** A pause that an upstream asks for; what is no number is no pause. */
function wholeMs(ms = 0): number {
  return Number.isFinite(ms) && ms > 0 ? Math.ceil(ms) : 0;
}

/** PostgreSQL knows no NUL in a text, and an upstream's words must not keep a task from its end. */
function storable(text: string): string {
  return text.replaceAll('\0', '');
}

/** Progress of work that is not done: whole, and below 100. */
function percent(progress = 0): number {
  return Number.isFinite(progress) ? Math.min(99, Math.max(0, Math.floor(progress))) : 0;
}

/** Whether it can be charged and logged: a figure that cannot must not keep the task from its end. */
function usable({ units, inputTokens = 0, outputTokens = 0 }: TaskUsage, unitCost: number): boolean {
  const tokens = [inputTokens, outputTokens].every((count) => Number.isSafeInteger(count) && count >= 0);
  return tokens && units >= 0 && Number.isSafeInteger(Math.ceil(units * unitCost));
}
