import type { Channel } from '../channels/channel.ts';
import { type Candidate, connectionFailure } from '../channels/failover.ts';
import {
  allowsRetryAfter,
  type FailureKind,
  failureKindOf,
  failureKindOfStatus,
  wasNeverSent,
  wasRejectedBeforeWork,
} from '../channels/failure-kinds.ts';
import { Failure, type TaskError } from '../lib/failure.ts';
import type { NewClip } from '../store/commands/clips.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Speaks to one kind of upstream about tasks. Everything it throws should be a `DriverError`. */
export interface TaskDriver {
  /** Makes the upstream task. `request` is what the task was made with. A call of unknown outcome is never repeated. */
  submit(task: TaskRecord, request: object, upstream: Upstream): Promise<Submission>;
  /** Asks for the upstream task's state. A `DriverError` of kind `rejected` fails the task. */
  poll(task: AcceptedTask, upstream: Upstream): Promise<Snapshot>;
  /**
   * Gives a task that waits for its owner's word what it waits for. Kind `rejected`: it was not taken, and the task
   * stays as it is. Absent: tasks never wait.
   */
  resume?(task: AcceptedTask, request: object, upstream: Upstream): Promise<Resumed>;
  /** Stops the upstream task. Kind `rejected`: it cannot be stopped any more. Absent: it never can. */
  cancel?(task: AcceptedTask, upstream: Upstream): Promise<void>;
}

export interface Upstream {
  channel: Channel;
  /** For whom it is asked. */
  user?: number;
  /** Aborted when the answer comes too late to be of use. */
  signal: AbortSignal;
}

/** A task that an upstream is known to have. */
export type AcceptedTask = TaskRecord & { upstreamId: string };

export interface Submission {
  upstreamId: string;
  /** Default `queued`. */
  state?: 'queued' | 'in_progress';
  /** Whole percent. */
  progress?: number;
  /** Milliseconds until the first poll. */
  pollAfterMs?: number;
  /** What there is to show already. */
  result?: Readonly<Record<string, unknown>>;
}

/** A task that waits no more. */
export interface Resumed {
  upstreamId: string;
  /** In the place of what there was to show. */
  result: Readonly<Record<string, unknown>>;
}

/** What an upstream says of a task. `result` is kept as it is for the renderers; the latest one wins. */
export type Snapshot =
  | {
      state: 'queued' | 'in_progress';
      /** Whole percent; absent: not reported. */
      progress?: number;
      result?: Readonly<Record<string, unknown>>;
      /** What it has made so far, each of which becomes a record of its own. */
      clips?: readonly NewClip[];
      /** Least milliseconds until the next poll. */
      pollAfterMs?: number;
    }
  | {
      state: 'completed';
      result: Readonly<Record<string, unknown>>;
      clips?: readonly NewClip[];
      /** Absent: not reported, so the units that were reserved are charged. */
      usage?: TaskUsage;
      /** Milliseconds that the result is available. */
      resultMs?: number;
    }
  | {
      state: 'failed';
      error: { code: string; message: string };
      result?: Readonly<Record<string, unknown>>;
    };

export interface TaskUsage {
  /** In the model's unit. */
  units: number;
  inputTokens?: number;
  outputTokens?: number;
}

/**
 * - `rejected`: the upstream's last word. No other channel is asked and nothing is tried again.
 * - `retryable`: certainly nothing came of it; another channel, or a later try, may do better.
 * - `unknown`: it may have been done.
 */
export type DriverErrorKind = 'rejected' | 'retryable' | 'unknown';

interface DriverErrorOptions {
  fault?: FailureKind | undefined;
  pause?: number | undefined;
}

export class DriverError extends Error {
  override readonly name = 'DriverError';
  readonly kind: DriverErrorKind;
  /** What the caller gets; a subclass may carry the provider's own words. */
  readonly failure: Failure;
  /** How the channel failed; undefined: it did not. */
  readonly fault: FailureKind | undefined;
  /** Seconds that the provider asks to wait with such requests. */
  readonly pause: number | undefined;

  constructor(kind: DriverErrorKind, failure: Failure, { fault, pause }: DriverErrorOptions = {}) {
    super(failure.message);
    this.kind = kind;
    this.failure = failure;
    this.fault = fault;
    this.pause = pause;
  }
}

/**
 * Logs what came of asking an upstream. Not the provider's words, which may repeat a client's; and a refusal is the
 * client's affair.
 */
export function logDriverError(
  logger: Logger,
  { kind, failure: { status, code, cause } }: DriverError,
  about: { channel: string; task?: string; asset?: string; failures?: number },
  message: string,
): void {
  const line = { ...about, kind, status, code, ...(cause === undefined ? {} : { err: cause }) };
  if (kind === 'rejected') logger.debug(line, message);
  else logger.warn(line, message);
}

/** Takes what was thrown on the way to an upstream for a `DriverError`, tells the attempt and logs it. */
export function noteDriverError(
  logger: Logger,
  error: unknown,
  { channel, attempt }: Candidate,
  message: string,
  about: { task?: string; asset?: string; failures?: number } = {},
): DriverError {
  const noted = asDriverError(error);
  if (noted.fault === undefined) attempt.finish();
  else attempt.fail(noted.fault, noted.pause);
  logDriverError(logger, noted, { ...about, channel: channel.name }, message);
  return noted;
}

/**
 * The error for an upstream that answered with something else than success. `failure` is what the client gets, `pause`
 * the seconds that the upstream asks to wait.
 */
export function refusedBy(status: number, failure: Failure, pause?: number): DriverError {
  // A refused key, throttling and "not now" come before any work; other failures may come after it.
  const kind = wasRejectedBeforeWork(status) ? 'retryable' : status >= 500 ? 'unknown' : 'rejected';
  return new DriverError(kind, failure, {
    fault: failureKindOfStatus(status),
    ...(allowsRetryAfter(status) && { pause }),
  });
}

/** Takes whatever was thrown on the way to an upstream for a `DriverError`. */
export function asDriverError(error: unknown): DriverError {
  if (error instanceof DriverError) return error;
  const failure = error instanceof Failure ? error : connectionFailure(error);
  return new DriverError(wasNeverSent(error) ? 'retryable' : 'unknown', failure, {
    fault: failureKindOf(error),
  });
}

/** The gateway's own errors of failed tasks. Drivers use them too, where an upstream says the same. */
export const taskCanceled: TaskError = {
  code: 'task_canceled',
  message: 'The task was canceled before it began.',
};
export const taskExpired: TaskError = { code: 'task_expired', message: 'The task was not finished in time.' };

/** A provider may have the task although it is not known. */
export const submissionInterrupted: TaskError = {
  code: 'submission_interrupted',
  message: 'The service was interrupted before the provider had confirmed the task.',
};
