import type { Failure, TaskError } from '../lib/failure.ts';
import type { Unit, Usage } from '../models/usage.ts';
import type { UsageBounds } from '../quota/price-rules.ts';
import { costOf } from '../quota/prices.ts';
import { appliedRule, chargeableUsage } from '../quota/quote.ts';
import { reportedPrice } from '../quota/reported-price.ts';
import type { PriceFields } from '../settings/price-rules.ts';
import { Batcher } from '../store/batcher.ts';
import type { NewChange } from '../store/commands/changes.ts';
import type { TaskPoll } from '../store/commands/task-polls.ts';
import type { TaskCharge, TaskEnd } from '../store/commands/tasks.ts';
import { fault } from '../store/fault-points.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import { persist, type Store } from '../store/store.ts';
import { recordSettlement } from '../telemetry/quota-metrics.ts';
import {
  type ProviderReport,
  type Snapshot,
  type Submission,
  submissionInterrupted,
  type TaskUsage,
  taskCanceled,
} from './driver.ts';
import type { ChangedTask, TaskEnvironment } from './environment.ts';
import { recordFinalTask, reservedQuotaOf } from './record-final-task.ts';
import { jittered, nextPollInterval, retryPause } from './timing.ts';

type Unfinished = Extract<Snapshot, { state: 'queued' | 'in_progress' }>;
type Completed = Extract<Snapshot, { state: 'completed' }>;

/** The end of a task as an operator sets it. */
export type ManualEnd =
  | { outcome: 'failed'; error: TaskError }
  | {
      outcome: 'completed';
      /** In the model's unit, at most the reserved units. */
      units: number;
      /** Absent: the current result. */
      result?: Readonly<Record<string, unknown>> | undefined;
    };

const maxBatch = 200;

/** Records the results of polls in batches. Returns false for a poll whose claim has been superseded. */
export class PollRecorder extends Batcher<TaskPoll, boolean> {
  constructor(store: Store) {
    super((polls) => persist(store, 'recordPolls', polls), maxBatch);
  }
}

/** State changes of tasks. Each is one transaction and has no effect if the claim has been superseded. */
export class TaskTransitions {
  readonly #env: TaskEnvironment;
  readonly #recorder: PollRecorder;

  constructor(env: TaskEnvironment) {
    this.#env = env;
    this.#recorder = new PollRecorder(env.store);
  }

  /** Records the upstream task. Undefined: the claim was superseded, so this gateway must not poll it. */
  async accept(task: TaskRecord, submission: Submission, wasQueued = false): Promise<TaskRecord | undefined> {
    const { timing, timers, store, clock } = this.#env;
    const dueNow = timers.monotonic();
    const accepted = await persist(store, 'acceptTask', {
      id: task.id,
      attempt: task.attempt,
      upstreamId: submission.upstreamId,
      state: submission.state ?? 'queued',
      progress: percent(submission.progress),
      result: jsonOrNull(submission.result),
      nextPollAt: dueNow + this.#pause(timing.firstPollMs, submission.pollAfterMs),
      now: clock(),
      dueNow,
      wasQueued,
    });
    fault('submit:accepted');
    if (accepted !== undefined) this.#announce(accepted);
    return accepted;
  }

  /**
   * Records the progress of an unfinished task and returns when it is due again. `early`: the poll was for a reader, so
   * the interval does not grow.
   */
  async progress(task: TaskRecord, snapshot: Unfinished, { early }: { early: boolean }): Promise<number> {
    const { timing, timers, clock } = this.#env;
    const [now, dueNow] = [clock(), timers.monotonic()];
    const pollInterval = early ? task.pollInterval : nextPollInterval(task.pollInterval, timing);
    const pause = this.#pause(task.pollInterval, snapshot.pollAfterMs);
    const { state } = snapshot;
    const progress = Math.max(task.progress, percent(snapshot.progress));
    // A task that is not final at its deadline fails, so it is polled exactly then.
    const nextPollAt = Math.min(dueNow + pause, task.deadlineAt);
    const isRecorded = await this.#recorder.add({
      id: task.id,
      attempt: task.attempt,
      state,
      progress,
      result: jsonOrNull(snapshot.result),
      clips: snapshot.clips,
      failures: 0,
      pollInterval,
      polledAt: dueNow,
      nextPollAt,
      now,
    });
    fault('poll:recorded');
    if (isRecorded && task.state === 'queued' && state === 'in_progress') {
      this.#announce({ ...task, state, progress });
    }
    return nextPollAt;
  }

  /**
   * Records a failed poll and returns when the task is due again. `retryAfter`: pause that the upstream asks for, in
   * seconds.
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
      // The command never moves the state backward.
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
   * Completes a task and charges its usage at the price of its creation, also beyond the reservation. Charges the
   * reservation, which is the upper bound, for an implausible report.
   */
  complete(
    task: TaskRecord,
    { result, clips, usage, report, resultMs }: Completed,
  ): Promise<TaskRecord | undefined> {
    const end = { attempt: task.attempt, result: JSON.stringify(result), clips, error: null };
    const { charge, fields } = this.#charge(task, usage, report);
    return this.#finish(task, { ...end, charge }, { resultMs, fields });
  }

  /** Returns the charge for a report, and the fields of the video by the report. */
  #charge(task: TaskRecord, reported: TaskUsage = {}, report?: ProviderReport): PricedCharge {
    const price = priceUnder(task, reported, report);
    const { usage, replaced } = chargeableUsage(reported, price.terms, price.bounds);
    const { id, requestId, channel } = task;
    const about = { task: id, request_id: requestId, channel };
    if (replaced.length > 0)
      this.#env.logger.warn(
        { ...about, reported, bound: price.bounds, replaced },
        'the reported usage is not plausible for the task; charging the upper bound',
      );
    const ignored = ignoredFields(task, report);
    if (Object.keys(ignored).length > 0)
      this.#env.logger.warn(
        { ...about, ignored },
        'the model has no video with the reported values; charging by those of the request',
      );
    return { charge: chargeFor(price, usage), fields: price.fields };
  }

  /** Fails a task and refunds its reservation. `overrule`: also if another claim is working on it. */
  fail(
    task: TaskRecord,
    { code, message }: { code: string; message: string },
    {
      result,
      overrule = false,
      // A request that may have reached a provider must not be repeated.
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
      result: jsonOrNull(result),
      error: { code: storable(code), message: storable(message) },
      isCanceled: code === taskCanceled.code,
      keepKey,
      charge: null,
      change,
    });
  }

  /**
   * Ends a task on behalf of an operator, also if another claim is working on it. The cost must not exceed the
   * reservation. Undefined: it is final, or an upstream has accepted it since.
   */
  endManually(task: TaskRecord, end: ManualEnd, change: NewChange): Promise<TaskRecord | undefined> {
    if (end.outcome === 'failed') return this.fail(task, end.error, { overrule: true, change });
    const price = priceUnder(task, {});
    const share = price.terms.rule !== null && shareOf(price.bounds, end.units);
    const charge = chargeFor(price, { ...share, units: end.units });
    return this.#finish(task, { attempt: null, result: jsonOrNull(end.result), error: null, charge, change });
  }

  /** Removes a task whose creation failed. Returns false if the claim was superseded. */
  drop(task: TaskRecord, { status, code }: Pick<Failure, 'status' | 'code'>): Promise<boolean> {
    const { id, attempt, channel } = task;
    const now = this.#env.clock();
    const refused = { id, attempt, channel, status, errorCode: storable(code), now };
    return persist(this.#env.store, 'dropTask', refused).then((dropped) => {
      if (dropped) recordSettlement(task.model, reservedQuotaOf(task), { charged: 0, debt: 0 });
      return dropped;
    });
  }

  /**
   * Ends a task whose submission was interrupted. Before any request to an upstream, returns it to the queue, or removes it
   * if it never waited there, as no client has its id.
   */
  async interrupt(task: TaskRecord): Promise<void> {
    const { id, attempt } = task;
    if (task.askedAt === null && (await persist(this.#env.store, 'returnToQueue', { id, attempt }))) return;
    if (task.askedAt === null) await this.drop(task, { status: 503, code: submissionInterrupted.code });
    else await this.fail(task, submissionInterrupted);
  }

  /** Returns the longer of the pause with jitter and the pause that the upstream asks for, within the maximum. */
  #pause(ms: number, requestedMs?: number): number {
    const { timing, random } = this.#env;
    return Math.min(timing.maxPauseMs, Math.max(jittered(ms, random), wholeMs(requestedMs)));
  }

  /** Adds what the provider charges for the usage of a task. */
  #withCost({ channel, model }: TaskRecord, charge: TaskCharge, fields: PriceFields): TaskCharge {
    return { ...charge, cost: this.#env.vendorCosts.costOf(channel, model, charge, () => fields) };
  }

  async #finish(
    open: TaskRecord,
    end: Omit<TaskEnd, 'id' | 'now' | 'dueNow' | 'expiresAt'>,
    {
      resultMs = this.#env.timing.resultMs,
      fields = open.pricing?.fields ?? {},
    }: { resultMs?: number | undefined; fields?: PriceFields } = {},
  ): Promise<TaskRecord | undefined> {
    const { store, logger, timers, clock } = this.#env;
    const { id } = open;
    const charge = end.charge && this.#withCost(open, end.charge, fields);
    const now = clock();
    fault('settle:before');
    const times = { expiresAt: now + resultMs, now, dueNow: timers.monotonic() };
    const finished = await persist(store, 'finishTask', { ...end, charge, id, ...times });
    fault('settle:after');
    if (finished === undefined) return undefined;
    const { task, booked } = finished;
    if (booked === undefined) logger.error({ task: id }, 'the reservation was closed before its task ended');
    else if (booked.debt > 0)
      logger.warn(
        { task: id, request_id: task.requestId, ...booked },
        'the key had too little quota left for a finished task; the rest is recorded as its debt',
      );
    recordFinalTask(task, booked, charge?.cost);
    this.#announce(task);
    return task;
  }

  #announce(task: ChangedTask): void {
    try {
      this.#env.onChange(task);
    } catch (error) {
      this.#env.logger.error({ err: error, task: task.id }, 'a listener failed on a state change of a task');
    }
  }
}

function jsonOrNull(value: object | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

/** A usage with its units. */
type ReportedUnits = TaskUsage & Pick<Usage, 'units'>;

/** A charge with the fields that decide the cost at the provider. */
interface PricedCharge {
  charge: TaskCharge;
  fields: PriceFields;
}

type TaskPrice = ReturnType<typeof reportedPrice>;

/** Returns the price of a task since its creation, by what the provider reports. Without a report, by the request. */
function priceUnder(
  { model, unit, expectedUnits, pricing, unitPrice, groupRatio }: TaskRecord,
  usage: TaskUsage,
  report?: ProviderReport,
): TaskPrice {
  const { rule = null, rules, fields = {}, maxOutputTokens = 0 } = pricing ?? {};
  const request = {
    model: { id: model, unit: unit as Unit },
    expectedUnits,
    maxOutputTokens,
    priceFields: () => fields,
  };
  const terms = { unitPrice, rule, groupRatio };
  if (rules === undefined) return reportedPrice(request, terms, {});
  return reportedPrice(request, rules === null ? terms : { ...terms, rules }, usage, report?.fields);
}

/** Returns the implausible fields of a report that the price of the task could depend on. */
function ignoredFields({ pricing }: TaskRecord, report?: ProviderReport): Readonly<Record<string, unknown>> {
  if (pricing?.rules === undefined || report === undefined) return {};
  const { rules } = pricing;
  const matters = (name: string) =>
    rules === null || name !== 'ratio' || rules.some(({ when }) => when?.ratio !== undefined);
  return Object.fromEntries(Object.entries(report.ignored).filter(([name]) => matters(name)));
}

/** Returns the charge for a usage at a price. */
function chargeFor(
  { terms, reported }: TaskPrice,
  { units, inputTokens = 0, outputTokens = 0 }: ReportedUnits,
): TaskCharge {
  const usage = { units, inputTokens, outputTokens };
  return { quota: costOf(usage, terms), ...usage, appliedRule: appliedRule(terms, usage, reported) };
}

/** Returns the tokens of an operator's number of units: the same share of their upper bounds, rounded up. */
function shareOf({ units: most, inputTokens, outputTokens }: UsageBounds, units: number) {
  const share = (bound: number) => (most === 0 ? 0 : Math.ceil((bound * units) / most));
  return { inputTokens: share(inputTokens), outputTokens: share(outputTokens) };
}

/** Rounds up a pause that an upstream asks for. An invalid number means no pause. */
function wholeMs(ms = 0): number {
  return Number.isFinite(ms) && ms > 0 ? Math.ceil(ms) : 0;
}

/** Removes NUL characters, which PostgreSQL refuses, so that an upstream's message cannot prevent the end of a task. */
function storable(text: string): string {
  return text.replaceAll('\0', '');
}

/** Returns the progress of unfinished work as a whole number from 0 to 99. */
function percent(progress = 0): number {
  return Number.isFinite(progress) ? Math.min(99, Math.max(0, Math.floor(progress))) : 0;
}
