import type { CallOptions } from '../call.ts';
import type { EndedTask } from '../errors.ts';
import { newId } from '../sockets/new-id.ts';
import type { TaskProtocol } from './task-protocol.ts';
import { checkWaitOptions, type WaitOptions, waitForTask } from './wait-for-task.ts';

export interface CreateOptions extends CallOptions {
  /** Requests with the same key create only one task. Default: random. */
  idempotencyKey?: string;
}

/** Tasks with one path to create them and one to read them. */
export class Tasks<Request, Created, Task extends EndedTask, Done extends Task> {
  readonly #protocol: TaskProtocol<Request, Created, Task, Done>;

  constructor(protocol: TaskProtocol<Request, Created, Task, Done>) {
    this.#protocol = protocol;
  }

  /** Creates a task. Retries of the request never create a second one. */
  create(body: Request, options: CreateOptions = {}): Promise<Created> {
    return this.#protocol.create(body, withIdempotencyKey(options));
  }

  /** Retrieves a task. */
  async retrieve(id: string, options: CallOptions = {}): Promise<Task> {
    return (await this.#protocol.read(id, options)).data;
  }

  /**
   * Polls a task until it has a result. Throws TaskFailedError with the task if it ends without one. AbortError and
   * TimeoutError contain its `taskId`; the task continues.
   */
  waitFor(id: string, options: WaitOptions<Task> = {}): Promise<Done> {
    return waitForTask(id, this.#protocol, options);
  }
}

/** Creates a task, then waits for it. Validates the wait options before it creates the task. */
export async function createThenWait<Created, Task, Result>(
  options: CreateOptions & WaitOptions<Task>,
  create: (options: CreateOptions) => Promise<Created>,
  wait: (created: Created, options: WaitOptions<Task>) => Promise<Result>,
): Promise<Result> {
  checkWaitOptions(options);
  const { onProgress, pollIntervalMs, timeoutMs, idempotencyKey, ...call } = options;
  const created = await create({ ...call, idempotencyKey });
  return await wait(created, { ...call, onProgress, pollIntervalMs, timeoutMs });
}

/** Adds an idempotency key to the options of a call. */
export function withIdempotencyKey({
  idempotencyKey = newId(),
  headers,
  ...call
}: CreateOptions): CallOptions {
  return { ...call, headers: { 'Idempotency-Key': idempotencyKey, ...headers } };
}
