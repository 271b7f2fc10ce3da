import { ByteAnswer } from '../byte-answer.ts';
import type { Caller, CallOptions } from '../call.ts';
import { type EndedTask, UnigateError } from '../errors.ts';
import { saveFile } from '../save-file.ts';
import { type ReceiveOptions, readResuming } from './read-resuming.ts';
import type { TaskProtocol } from './task-protocol.ts';
import { type CreateOptions, createThen, Tasks } from './tasks.ts';
import type { WaitOptions } from './wait-for-task.ts';

export interface DownloadOptions extends CallOptions {
  /** The part wanted, for example `bytes=0-1023`. */
  range?: string;
}

/** Tasks that make one file. */
export class TaskFamily<Request, Created, Task extends EndedTask, Done extends Task> extends Tasks<
  Request,
  Created,
  Task,
  Done
> {
  readonly #caller: Caller;
  readonly #protocol: TaskProtocol<Request, Created, Task, Done>;

  constructor(caller: Caller, protocol: TaskProtocol<Request, Created, Task, Done>) {
    super(protocol);
    this.#caller = caller;
    this.#protocol = protocol;
  }

  /** The id in the answer of `create`. */
  idOf(created: Created): string {
    return this.#protocol.idOf(created);
  }

  /** `create`, then `waitFor`. */
  createAndWait(body: Request, options: CreateOptions & WaitOptions<Task> = {}): Promise<Done> {
    const create = (call: CreateOptions) => this.create(body, call);
    return createThen(options, create, (created, wait) => this.waitFor(this.idOf(created), wait));
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
    await saveFile(file, this.receive(id, options));
  }
}
