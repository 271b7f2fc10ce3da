import { ByteAnswer } from '../byte-answer.ts';
import type { Caller, CallOptions } from '../call.ts';
import { type EndedTask, UnigateError } from '../errors.ts';
import { newId } from '../sockets/new-id.ts';
import { type ReceiveOptions, readResuming } from './read-resuming.ts';
import type { TaskProtocol } from './task-protocol.ts';
import { checkWaitOptions, type WaitOptions, waitForTask } from './wait-for-task.ts';

export interface CreateOptions extends CallOptions {
  /** Your own name for the request: under the same one it makes no second task. By chance when it is left out. */
  idempotencyKey?: string;
}

export interface DownloadOptions extends CallOptions {
  /** The part wanted, for example `bytes=0-1023`. */
  range?: string;
}

/** The tasks of one pair of paths: made at one, read at the other. */
export class TaskFamily<Request, Created, Task extends EndedTask, Done extends Task> {
  readonly #caller: Caller;
  readonly #protocol: TaskProtocol<Request, Created, Task, Done>;

  constructor(caller: Caller, protocol: TaskProtocol<Request, Created, Task, Done>) {
    this.#caller = caller;
    this.#protocol = protocol;
  }

  /** Starts a task; repeats of the request never start a second one. */
  create(body: Request, options: CreateOptions = {}): Promise<Created> {
    const { idempotencyKey = newId(), headers, ...call } = options;
    return this.#protocol.create(body, {
      ...call,
      headers: { 'Idempotency-Key': idempotencyKey, ...headers },
    });
  }

  /** The id in the answer of `create`. */
  idOf(created: Created): string {
    return this.#protocol.idOf(created);
  }

  /** The task as it stands. */
  async retrieve(id: string, options: CallOptions = {}): Promise<Task> {
    return (await this.#protocol.read(id, options)).data;
  }

  /**
   * Polls the task until it has a result. Throws TaskFailedError with the task when it ends without one; AbortError and
   * TimeoutError, which leave the task running, have its `taskId`.
   */
  waitFor(id: string, options: WaitOptions<Task> = {}): Promise<Done> {
    return waitForTask(id, this.#protocol, options);
  }

  /** `create`, then `waitFor`. */
  async createAndWait(body: Request, options: CreateOptions & WaitOptions<Task> = {}): Promise<Done> {
    // Checked before there is a task, so that none is started in vain.
    checkWaitOptions(options);
    const { onProgress, pollIntervalMs, timeoutMs, idempotencyKey, ...call } = options;
    const created = await this.create(body, { ...call, idempotencyKey });
    return await this.waitFor(this.idOf(created), { ...call, onProgress, pollIntervalMs, timeoutMs });
  }

  /** The address of what the task made; undefined as long as there is nothing. */
  urlOf(task: Task): string | undefined {
    return this.#protocol.urlOf(task);
  }

  /** What the task made. `timeout` covers the wait for its beginning. */
  async download(id: string, { range, ...options }: DownloadOptions = {}): Promise<ByteAnswer> {
    const task = await this.retrieve(id, options);
    const url = this.urlOf(task);
    if (!url) throw new UnigateError(`${id} has no file: it is ${this.#protocol.stateOf(task).status}.`);
    const headers = { ...options.headers, ...(range && { Range: range }) };
    return new ByteAnswer(await this.#caller.openAddress(url, { ...options, headers }));
  }

  /** The bytes of what the task made, as they come; a connection that breaks is taken up again. */
  async *receive(id: string, options: ReceiveOptions = {}): AsyncGenerator<Uint8Array, void> {
    try {
      yield* readResuming(async (range, call) => {
        return (await this.download(id, { ...options, ...call, range })).response;
      }, options);
    } catch (error) {
      if (error instanceof UnigateError) error.taskId = id;
      throw error;
    }
  }

  /** Writes what the task made to a file, which appears only when it is whole. Not in a browser. */
  async downloadTo(id: string, file: string, options: ReceiveOptions = {}): Promise<void> {
    const { saveFile } = await import('../save-file.ts');
    await saveFile(file, this.receive(id, options));
  }
}
