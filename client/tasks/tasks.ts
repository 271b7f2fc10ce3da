import type { CallOptions } from '../call.ts';
import type { EndedTask } from '../errors.ts';
import { newId } from '../sockets/new-id.ts';
import type { TaskMaker } from './task-protocol.ts';
import { checkWaitOptions, type WaitOptions, waitForTask } from './wait-for-task.ts';

export interface CreateOptions extends CallOptions {
  /** Your own name for the request: under the same one it makes no second task. By chance when it is left out. */
  idempotencyKey?: string;
}

/** The tasks of one pair of paths: made at one, read at the other. */
export class Tasks<Request, Created, Task extends EndedTask, Done extends Task> {
  readonly #maker: TaskMaker<Request, Created, Task, Done>;

  constructor(maker: TaskMaker<Request, Created, Task, Done>) {
    this.#maker = maker;
  }

  /** Starts a task; repeats of the request never start a second one. */
  create(body: Request, options: CreateOptions = {}): Promise<Created> {
    return this.#maker.create(body, named(options));
  }

  /** The task as it stands. */
  async retrieve(id: string, options: CallOptions = {}): Promise<Task> {
    return (await this.#maker.read(id, options)).data;
  }

  /**
   * Polls the task until it has a result. Throws TaskFailedError with the task when it ends without one; AbortError and
   * TimeoutError, which leave the task running, have its `taskId`.
   */
  waitFor(id: string, options: WaitOptions<Task> = {}): Promise<Done> {
    return waitForTask(id, this.#maker, options);
  }
}

/** Makes a task, then waits with what the answer says. The options of both are checked before there is a task. */
export async function createThen<Created, Task, Result>(
  options: CreateOptions & WaitOptions<Task>,
  create: (options: CreateOptions) => Promise<Created>,
  wait: (created: Created, options: WaitOptions<Task>) => Promise<Result>,
): Promise<Result> {
  checkWaitOptions(options);
  const { onProgress, pollIntervalMs, timeoutMs, idempotencyKey, ...call } = options;
  const created = await create({ ...call, idempotencyKey });
  return await wait(created, { ...call, onProgress, pollIntervalMs, timeoutMs });
}

/** The options of a call that names itself. */
export function named({ idempotencyKey = newId(), headers, ...call }: CreateOptions): CallOptions {
  return { ...call, headers: { 'Idempotency-Key': idempotencyKey, ...headers } };
}
