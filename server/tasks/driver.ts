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
import { type Timers, withinLimit } from '../lib/timers.ts';
import type { ReportedFields } from '../settings/price-rules.ts';
import type { NewClip } from '../store/commands/clips.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Runs tasks on one kind of upstream. Its methods should throw only `DriverError`. */
export interface TaskDriver {
  /** Creates the upstream task from the task's `request`. A call of unknown outcome is never repeated. */
  submit(task: TaskRecord, request: object, upstream: Upstream): Promise<Submission>;
  /** Polls the upstream task. A `DriverError` of kind `rejected` fails the task. */
  poll(task: AcceptedTask, upstream: Upstream): Promise<Snapshot>;
  /**
   * Sends the input that a task waits for. Kind `rejected`: the upstream refused it, and the task keeps waiting. Absent:
   * tasks never wait for input.
   */
  resume?(task: AcceptedTask, request: object, upstream: Upstream): Promise<Resumed>;
  /** Cancels the upstream task. Kind `rejected`: it is too late. Absent: the upstream cannot cancel tasks. */
  cancel?(task: AcceptedTask, upstream: Upstream): Promise<void>;
}

export interface Upstream {
  channel: Channel;
  /** The user whose task it is. */
  user?: number;
  /** Aborted at the time limit or when the gateway stops. */
  signal: AbortSignal;
}

/** Calls a driver for a task within a time limit. */
export function callDriver<T>(
  { timers, stopping }: { timers: Timers; stopping: AbortSignal },
  { userId }: TaskRecord,
  channel: Channel,
  limitMs: number,
  call: (upstream: Upstream) => T | Promise<T>,
): Promise<T> {
  return withinLimit(timers, limitMs, stopping, async (signal) => call({ channel, user: userId, signal }));
}

/** A task that an upstream has accepted. */
export type AcceptedTask = TaskRecord & { upstreamId: string };

export interface Submission {
  upstreamId: string;
  /** Default `queued`. */
  state?: 'queued' | 'in_progress';
  /** Whole percent. */
  progress?: number;
  /** Milliseconds until the first poll. */
  pollAfterMs?: number;
  /** Result to show before completion. */
  result?: Readonly<Record<string, unknown>>;
}

/** The response of an upstream to the input of a waiting task. */
export interface Resumed {
  upstreamId: string;
  /** Replaces the current result. */
  result: Readonly<Record<string, unknown>>;
}

/** State of an upstream task. Renderers use the latest `result` unchanged. */
export type Snapshot =
  | {
      state: 'queued' | 'in_progress';
      /** Whole percent; absent: not reported. */
      progress?: number;
      result?: Readonly<Record<string, unknown>>;
      /** Clips made so far. Each becomes a record of its own. */
      clips?: readonly NewClip[];
      /** Least milliseconds until the next poll. */
      pollAfterMs?: number;
    }
  | {
      state: 'completed';
      result: Readonly<Record<string, unknown>>;
      clips?: readonly NewClip[];
      /** Absent: not reported, so the reserved units are charged. */
      usage?: TaskUsage;
      /** The fields of a video that prices depend on. Absent: not reported. */
      report?: ProviderReport;
      /** Milliseconds that the result is available. */
      resultMs?: number;
    }
  | {
      state: 'failed';
      error: { code: string; message: string };
      result?: Readonly<Record<string, unknown>>;
    };

/** The fields of a video as the provider reports them, without its length, which is in the usage. */
export interface ProviderReport {
  fields: Omit<ReportedFields, 'duration'>;
  /** Values that videos of the model cannot have, by field. */
  ignored: Readonly<Record<string, unknown>>;
}

export interface TaskUsage {
  /** In the model's unit. Absent: not reported, so the reserved units are charged. */
  units?: number;
  inputTokens?: number;
  /** For a video, its completion tokens. */
  outputTokens?: number;
}

/**
 * - `rejected`: final. The request is not repeated on this or another channel.
 * - `retryable`: the upstream has certainly not executed the request. Another channel or a later attempt may succeed.
 * - `unknown`: the upstream may have executed the request.
 */
export type DriverErrorKind = 'rejected' | 'retryable' | 'unknown';

interface DriverErrorOptions {
  failureKind?: FailureKind | undefined;
  pauseSeconds?: number | undefined;
}

export class DriverError extends Error {
  override readonly name = 'DriverError';
  readonly kind: DriverErrorKind;
  /** Failure for the client. A subclass may carry the provider's message. */
  readonly failure: Failure;
  /** Kind of channel failure. Undefined: the channel did not fail. */
  readonly failureKind: FailureKind | undefined;
  /** Pause for such requests that the provider asks for. */
  readonly pauseSeconds: number | undefined;

  constructor(
    kind: DriverErrorKind,
    failure: Failure,
    { failureKind, pauseSeconds }: DriverErrorOptions = {},
  ) {
    super(failure.message);
    this.kind = kind;
    this.failure = failure;
    this.failureKind = failureKind;
    this.pauseSeconds = pauseSeconds;
  }
}

/**
 * Logs a failed request to an upstream, without the provider's message, which may repeat client data. A rejection is
 * logged at debug level, since the client caused it.
 */
export function logDriverError(
  logger: Logger,
  { kind, failureKind, failure: { status, code, cause } }: DriverError,
  about: { channel: string; task?: string; asset?: string; failures?: number },
  message: string,
): void {
  const line = {
    ...about,
    kind,
    status,
    code,
    ...(failureKind !== undefined && { failure: failureKind }),
    ...(cause === undefined ? {} : { err: cause }),
  };
  if (kind === 'rejected') logger.debug(line, message);
  else logger.warn(line, message);
}

/** Converts an error to a `DriverError`, reports it to the attempt and logs it. */
export function reportDriverError(
  logger: Logger,
  error: unknown,
  { channel, attempt }: Candidate,
  message: string,
  about: { task?: string; asset?: string; failures?: number } = {},
): DriverError {
  const driverError = asDriverError(error);
  if (driverError.failureKind === undefined) attempt.finish();
  else attempt.fail(driverError.failureKind, driverError.pauseSeconds);
  logDriverError(logger, driverError, { ...about, channel: channel.name }, message);
  return driverError;
}

/** Returns the error for an upstream that responded with an error status. `failure` is for the client. */
export function driverErrorForStatus(
  status: number,
  failure: Failure,
  { pauseSeconds, failureKind = failureKindOfStatus(status) }: DriverErrorOptions = {},
): DriverError {
  // A refused key, throttling and unavailability precede any work. Other failures may follow it.
  const kind = wasRejectedBeforeWork(status) ? 'retryable' : status >= 500 ? 'unknown' : 'rejected';
  return new DriverError(kind, failure, {
    failureKind,
    ...(allowsRetryAfter(status) && { pauseSeconds }),
  });
}

/** Converts any error of a request to an upstream to a `DriverError`. */
export function asDriverError(error: unknown): DriverError {
  if (error instanceof DriverError) return error;
  const failure = error instanceof Failure ? error : connectionFailure(error);
  return new DriverError(wasNeverSent(error) ? 'retryable' : 'unknown', failure, {
    failureKind: failureKindOf(error),
  });
}

/** Task errors of the gateway. Drivers also use them for the same errors of an upstream. */
export const taskCanceled: TaskError = {
  code: 'task_canceled',
  message: 'The task was canceled before it began.',
};
export const taskExpired: TaskError = { code: 'task_expired', message: 'The task was not finished in time.' };

/** A task that waited too long in the queue. */
export const taskNotStarted: TaskError = {
  code: 'task_expired',
  message: 'The task was not started in time, because the channels of its model were at their limits.',
};

/** The provider may have accepted the task although the gateway has no confirmation. */
export const submissionInterrupted: TaskError = {
  code: 'submission_interrupted',
  message: 'The service was interrupted before the provider had confirmed the task.',
};
