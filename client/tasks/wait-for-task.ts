import type { CallOptions } from '../call.ts';
import {
  AbortError,
  APIError,
  ConnectionError,
  type EndedTask,
  TaskFailedError,
  TimeoutError,
  UnigateError,
} from '../errors.ts';
import { isRetryable, retryAfterMs, wait } from '../retry.ts';
import type { TaskReader, TaskState } from './task-protocol.ts';

const firstIntervalMs = 1_000;
const intervalGrowth = 1.5;
const maxIntervalMs = 15_000;
const maxRetryAfterMs = 60_000;
const maxFailureMs = 600_000;
const maxTimerMs = 2 ** 31 - 1;
const pollTimeoutMs = 60_000;

/** A change of a task's state. */
export interface TaskProgress<Task> {
  id: string;
  /** Status of the task's protocol. */
  status: string;
  /** 0 to 100, never decreasing. Undefined if the protocol does not report it. */
  percent: number | undefined;
  task: Task;
}

/** `timeout` applies to one poll (default 60,000). Waiting ignores `maxRetries`. */
export interface WaitOptions<Task> extends CallOptions {
  /** Called with the first state and with every change of status or percent. */
  onProgress?: (progress: TaskProgress<Task>) => void;
  /** Milliseconds between two polls. Default: starts at 1 s and grows by half up to 15 s. */
  pollIntervalMs?: number;
  /** Milliseconds for the whole wait. Default: no limit. */
  timeoutMs?: number;
}

/** Throws UnigateError unless both times are positive numbers. */
export function checkWaitOptions(options: Pick<WaitOptions<unknown>, 'pollIntervalMs' | 'timeoutMs'>): void {
  for (const name of ['pollIntervalMs', 'timeoutMs'] as const) {
    const value = options[name];
    if (value !== undefined && !(value > 0)) throw new UnigateError(`${name} must be a number above 0.`);
  }
}

/**
 * Polls a task until it has a result, and returns it. Repeats polls after transient failures for up to 10 minutes. Throws
 * TaskFailedError with the task if it ends without a result, AbortError or TimeoutError if the wait ends first, and APIError
 * for a permanent error. Each error contains the `taskId`.
 */
export async function waitForTask<Task extends EndedTask, Done extends Task>(
  id: string,
  reader: TaskReader<Task, Done>,
  options: WaitOptions<Task> = {},
): Promise<Done> {
  checkWaitOptions(options);
  const { signal, onProgress, pollIntervalMs, timeoutMs = Infinity, ...call } = options;
  const end = new AbortController();
  const finish = (error: UnigateError) => end.abort(Object.assign(error, { taskId: id }));
  const stop = () =>
    finish(new AbortError(`The wait for ${id} was aborted; the task continues.`, { cause: signal?.reason }));
  const expire = () =>
    finish(new TimeoutError(`${id} did not end within ${timeoutMs} ms; the task continues.`));
  const timer = timeoutMs <= maxTimerMs ? setTimeout(expire, timeoutMs) : undefined;
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();

  const pollOptions = { timeout: pollTimeoutMs, ...call, maxRetries: 0, signal: end.signal };
  const report = changeReporter(id, onProgress);
  let interval = Math.min(pollIntervalMs ?? firstIntervalMs, maxTimerMs);
  let lastSuccessAt = performance.now();
  try {
    for (;;) {
      const { requestedWaitMs, observed } = await poll(
        id,
        reader,
        pollOptions,
        performance.now() - lastSuccessAt < maxFailureMs,
      );
      if (observed) {
        const { task, state, requestId } = observed;
        lastSuccessAt = performance.now();
        report(state, task);
        if (reader.isDone(task)) return task;
        if (state.failure) throw new TaskFailedError({ ...state.failure, taskId: id, requestId, task });
      }
      await wait(Math.max(interval, Math.min(requestedWaitMs ?? 0, maxRetryAfterMs)), end.signal);
      if (pollIntervalMs === undefined) interval = Math.min(interval * intervalGrowth, maxIntervalMs);
    }
  } catch (error) {
    if (end.signal.aborted) throw end.signal.reason;
    if (error instanceof UnigateError) error.taskId = id;
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

interface PollResult<Task> {
  /** Wait that the gateway requests, in milliseconds. */
  requestedWaitMs: number | undefined;
  /** Undefined after a transient failure. */
  observed?: { task: Task; state: TaskState; requestId: string | undefined };
}

/** Polls once. Throws permanent errors, and transient ones if `toleratesFailure` is false. */
async function poll<Task, Done extends Task>(
  id: string,
  reader: TaskReader<Task, Done>,
  options: CallOptions,
  toleratesFailure: boolean,
): Promise<PollResult<Task>> {
  try {
    const { data: task, response, requestId } = await reader.read(id, options);
    return {
      requestedWaitMs: retryAfterMs(response.headers),
      observed: { task, state: stateOf(task, reader), requestId },
    };
  } catch (error) {
    if (!toleratesFailure || !isTransient(error)) throw error;
    return { requestedWaitMs: error instanceof APIError ? retryAfterMs(error.headers) : undefined };
  }
}

/** The response is not a task, for example the page of a proxy. */
class InvalidTaskError extends UnigateError {}

function stateOf<Task, Done extends Task>(task: Task, reader: TaskReader<Task, Done>): TaskState {
  let state: TaskState | undefined;
  try {
    state = reader.stateOf(task);
  } catch (cause) {
    throw new InvalidTaskError('The response is not a task.', { cause });
  }
  if (typeof state.status !== 'string') throw new InvalidTaskError('The response is not a task.');
  return state;
}

function isTransient(error: unknown): boolean {
  if (error instanceof APIError) return isRetryable(error);
  return error instanceof ConnectionError || error instanceof InvalidTaskError || isNotJson(error);
}

function isNotJson(error: unknown): boolean {
  return error instanceof UnigateError && error.cause instanceof SyntaxError;
}

/** Returns a function that reports changes to `onProgress`. The reported percent never decreases. */
function changeReporter<Task>(id: string, onProgress: WaitOptions<Task>['onProgress']) {
  let last: TaskProgress<Task> | undefined;
  return ({ status, percent }: TaskState, task: Task) => {
    const highest = percent === undefined ? last?.percent : Math.max(percent, last?.percent ?? 0);
    if (last?.status === status && last.percent === highest) return;
    last = { id, status, percent: highest, task };
    onProgress?.(last);
  };
}
