import { Worker } from 'node:worker_threads';

interface Waiting<Command, Reply> {
  command: Command;
  settle: (reply: Reply) => void;
  fail: (error: Error) => void;
}

/** One worker and the commands that wait for it. It works on one at a time. */
export class WorkerThread<Command, Reply> {
  readonly #worker: Worker;
  readonly #queue: Waiting<Command, Reply>[] = [];
  #current: Waiting<Command, Reply> | undefined;
  #death: Error | undefined;
  /** Streams that the thread has open, with or without a command. */
  streams = 0;

  constructor(script: URL, workerData: unknown) {
    // No inherited flags: a test runner's loader would be loaded here as well.
    this.#worker = new Worker(script, { workerData, execArgv: [] });
    this.#worker.unref();
    this.#worker.on('message', (reply: Reply) => {
      this.#current?.settle(reply);
      this.#current = undefined;
      this.#next();
    });
    this.#worker.on('error', (error: Error) => this.kill(error));
    this.#worker.on('exit', () => this.kill(new Error('The worker stopped')));
  }

  get alive(): boolean {
    return this.#death === undefined;
  }

  get load(): number {
    return this.streams + this.#queue.length + (this.#current ? 1 : 0);
  }

  /** Runs a command in its turn; rejects when the signal aborts first, so that it is never sent, or the thread dies. */
  run(command: Command, signal?: AbortSignal): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting<Command, Reply> = { command, settle: done(resolve), fail: done(reject) };
      const abort = () => {
        const position = this.#queue.indexOf(waiting);
        if (position >= 0) this.#queue.splice(position, 1);
        reject(signal?.reason);
      };
      function done<Value>(then: (value: Value) => void): (value: Value) => void {
        return (value) => {
          signal?.removeEventListener('abort', abort);
          then(value);
        };
      }
      if (this.#death) return reject(this.#death);
      if (signal?.aborted) return reject(signal.reason);
      signal?.addEventListener('abort', abort, { once: true });
      this.#queue.push(waiting);
      this.#next();
    });
  }

  /** Sends a command that has no answer. */
  post(command: Command): void {
    this.#worker.postMessage(command);
  }

  /** Ends the thread; its commands fail. */
  kill(error: Error): void {
    if (this.#death) return;
    this.#death = error;
    this.#current?.fail(error);
    for (const waiting of this.#queue.splice(0)) waiting.fail(error);
    void this.#worker.terminate();
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #next(): void {
    if (this.#current || this.#death) return;
    this.#current = this.#queue.shift();
    if (this.#current) this.#worker.postMessage(this.#current.command);
  }
}

/** Up to `size` threads of one script, started when they are first needed. */
export class WorkerPool<Command, Reply> {
  readonly #start: () => WorkerThread<Command, Reply>;
  readonly #size: number;
  #threads: WorkerThread<Command, Reply>[] = [];
  #closed = false;

  constructor(size: number, script: URL, workerData?: unknown) {
    this.#size = size;
    this.#start = () => new WorkerThread(script, workerData);
  }

  leastBusy(): WorkerThread<Command, Reply> {
    if (this.#closed) throw new Error('The pool is closed');
    this.#threads = this.#threads.filter(({ alive }) => alive);
    const idle = this.#threads.find(({ load }) => load === 0);
    if (idle) return idle;
    if (this.#threads.length < this.#size) {
      const started = this.#start();
      this.#threads.push(started);
      return started;
    }
    return this.#threads.reduce((least, thread) => (thread.load < least.load ? thread : least));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#threads.splice(0).map((thread) => thread.terminate()));
  }
}
