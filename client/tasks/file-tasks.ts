import { BinaryResponse } from '../binary-response.ts';
import type { Caller, CallOptions } from '../call.ts';
import { type EndedTask, UnigateError } from '../errors.ts';
import { saveFile } from '../save-file.ts';
import { downloadWithResume, type ReceiveOptions } from './resumable-download.ts';
import type { FileTaskProtocol } from './task-protocol.ts';
import { type CreateOptions, createThenWait, Tasks } from './tasks.ts';
import type { WaitOptions } from './wait-for-task.ts';

export interface DownloadOptions extends CallOptions {
  /** Requested range, for example `bytes=0-1023`. */
  range?: string;
}

/** Tasks with one result file. */
export class FileTasks<Request, Created, Task extends EndedTask, Done extends Task> extends Tasks<
  Request,
  Created,
  Task,
  Done
> {
  readonly #caller: Caller;
  readonly #protocol: FileTaskProtocol<Request, Created, Task, Done>;

  constructor(caller: Caller, protocol: FileTaskProtocol<Request, Created, Task, Done>) {
    super(protocol);
    this.#caller = caller;
    this.#protocol = protocol;
  }

  /** Returns the id in the response of `create`. */
  idOf(created: Created): string {
    return this.#protocol.idOf(created);
  }

  /** Calls `create`, then `waitFor`. */
  createAndWait(body: Request, options: CreateOptions & WaitOptions<Task> = {}): Promise<Done> {
    const create = (call: CreateOptions) => this.create(body, call);
    return createThenWait(options, create, (created, wait) => this.waitFor(this.idOf(created), wait));
  }

  /** Returns the URL of the result file. Undefined until it exists. */
  urlOf(task: Task): string | undefined {
    return this.#protocol.urlOf(task);
  }

  /** Downloads the result file. `timeout` applies until the headers arrive. */
  async download(id: string, { range, ...options }: DownloadOptions = {}): Promise<BinaryResponse> {
    const task = await this.retrieve(id, options);
    const url = this.urlOf(task);
    if (!url)
      throw new UnigateError(`${id} has no file: its status is ${this.#protocol.stateOf(task).status}.`);
    const headers = { ...options.headers, ...(range && { Range: range }) };
    return new BinaryResponse(await this.#caller.openAddress(url, { ...options, headers }));
  }

  /** Streams the result file and resumes after a lost connection. */
  async *receive(id: string, options: ReceiveOptions = {}): AsyncGenerator<Uint8Array, void> {
    try {
      yield* downloadWithResume(async (range, call) => {
        return (await this.download(id, { ...options, ...call, range })).response;
      }, options);
    } catch (error) {
      if (error instanceof UnigateError) error.taskId = id;
      throw error;
    }
  }

  /** Writes the result file to disk. The file appears only when it is complete. Not available in browsers. */
  async downloadTo(id: string, file: string, options: ReceiveOptions = {}): Promise<void> {
    await saveFile(file, this.receive(id, options));
  }
}
