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
import { askedWait, isRepeatable, wait } from '../retry.ts';
import type { TaskReader, TaskState } from './task-protocol.ts';

const firstIntervalMs = 1_000;
const growth = 1.5;
const maxIntervalMs = 15_000;
const maxRetryAfterMs = 60_000;
const maxTroubleMs = 600_000;
const maxTimerMs = 2 ** 31 - 1;
const pollTimeoutMs = 60_000;

/** A change in a task. */
export interface TaskProgress<Task> {
  id: string;
  /** In the words of the task's protocol. */
  status: string;
  /** 0 to 100, never falling; undefined where the protocol does not report it. */
  percent: number | undefined;
  task: Task;
}

/** `timeout` is for one poll, 60,000 when it is left out; `maxRetries` plays no part in waiting. */
export interface WaitOptions<Task> extends CallOptions {
  /** Told the first state and every change of status or percent. */
  onProgress?: (progress: TaskProgress<Task>) => void;
  /** Milliseconds between two polls; left out, it grows from 1 s by half to 15 s. */
  pollIntervalMs?: number;
  /** Milliseconds for the whole wait; left out, it has no end. */
  timeoutMs?: number;
}

/** Throws UnigateError when a time is not a positive number. */
export function checkWaitOptions(options: Pick<WaitOptions<unknown>, 'pollIntervalMs' | 'timeoutMs'>): void {
  for (const name of ['pollIntervalMs', 'timeoutMs'] as const) {
    const value = options[name];
    if (value !== undefined && !(value > 0)) throw new UnigateError(`${name}: not a number above 0.`);
  }
}

/**
 * Polls a task until it has a result, and gives it. Polls that fail for a passing reason are repeated, until nothing
 * else has come for ten minutes. Throws TaskFailedError with the task when it ends without a result, AbortError or
 * TimeoutError when the wait is over before, APIError for a final refusal; each error has the `taskId`.
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
    finish(new AbortError(`The wait for ${id} was aborted; the task goes on.`, { cause: signal?.reason }));
  const late = () => finish(new TimeoutError(`${id} has not ended within ${timeoutMs} ms; it goes on.`));
  const timer = timeoutMs <= maxTimerMs ? setTimeout(late, timeoutMs) : undefined;
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();

  const poll = { timeout: pollTimeoutMs, ...call, maxRetries: 0, signal: end.signal };
  const report = onlyChanges(id, onProgress);
  let interval = Math.min(pollIntervalMs ?? firstIntervalMs, maxTimerMs);
  let answeredAt = performance.now();
  try {
    for (;;) {
      const { asked, seen } = await look(id, reader, poll, performance.now() - answeredAt < maxTroubleMs);
      if (seen) {
        const { task, state, requestId } = seen;
        answeredAt = performance.now();
        report(state, task);
        if (reader.isDone(task)) return task;
        if (state.failure) throw new TaskFailedError({ ...state.failure, taskId: id, requestId, task });
      }
      await wait(Math.max(interval, Math.min(asked ?? 0, maxRetryAfterMs)), end.signal);
      if (pollIntervalMs === undefined) interval = Math.min(interval * growth, maxIntervalMs);
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

interface Look<Task> {
  /** Milliseconds that the gateway asks to wait. */
  asked: number | undefined;
  /** The task; undefined after a passing failure. */
  seen?: { task: Task; state: TaskState; requestId: string | undefined };
}

/** Polls once. Throws what is final, and after too long a trouble also what is passing. */
async function look<Task, Done extends Task>(
  id: string,
  reader: TaskReader<Task, Done>,
  options: CallOptions,
  patient: boolean,
): Promise<Look<Task>> {
  try {
    const { data: task, response, requestId } = await reader.read(id, options);
    return { asked: askedWait(response.headers), seen: { task, state: stateOf(task, reader), requestId } };
  } catch (error) {
    if (!patient || !isPassing(error)) throw error;
    return { asked: error instanceof APIError ? askedWait(error.headers) : undefined };
  }
}

/** An answer that is no task, such as a proxy's page. */
class NoTaskError extends UnigateError {}

function stateOf<Task, Done extends Task>(task: Task, reader: TaskReader<Task, Done>): TaskState {
  let state: TaskState | undefined;
  try {
    state = reader.stateOf(task);
  } catch (cause) {
    throw new NoTaskError('The answer is no task.', { cause });
  }
  if (typeof state.status !== 'string') throw new NoTaskError('The answer is no task.');
  return state;
}

function isPassing(error: unknown): boolean {
  if (error instanceof APIError) return isRepeatable(error);
  return error instanceof ConnectionError || error instanceof NoTaskError || isNotJson(error);
}

function isNotJson(error: unknown): boolean {
  return error instanceof UnigateError && error.cause instanceof SyntaxError;
}

/** Passes on the changes; a percent below one that was reported stands as that one. */
function onlyChanges<Task>(id: string, onProgress: WaitOptions<Task>['onProgress']) {
  let last: TaskProgress<Task> | undefined;
  return ({ status, percent }: TaskState, task: Task) => {
    const highest = percent === undefined ? last?.percent : Math.max(percent, last?.percent ?? 0);
    if (last?.status === status && last.percent === highest) return;
    last = { id, status, percent: highest, task };
    onProgress?.(last);
  };
}
