import { Worker } from 'node:worker_threads';

interface QueuedCommand<Command, Reply> {
  command: Command;
  resolve: (reply: Reply) => void;
  reject: (error: Error) => void;
}

/** A worker thread with a queue. It processes one command at a time. */
export class WorkerThread<Command, Reply> {
  readonly #worker: Worker;
  readonly #queue: QueuedCommand<Command, Reply>[] = [];
  #current: QueuedCommand<Command, Reply> | undefined;
  #failure: Error | undefined;
  /** Number of open streams of this thread, whether or not a command is running. */
  streams = 0;

  constructor(script: URL, workerData: unknown) {
    // Without inherited flags, because the loader of a test runner would otherwise load in the thread.
    this.#worker = new Worker(script, { workerData, execArgv: [] });
    this.#worker.unref();
    this.#worker.on('message', (reply: Reply) => {
      this.#current?.resolve(reply);
      this.#current = undefined;
      this.#next();
    });
    this.#worker.on('error', (error: Error) => this.kill(error));
    this.#worker.on('exit', () => this.kill(new Error('The worker stopped')));
  }

  get isAlive(): boolean {
    return this.#failure === undefined;
  }

  get load(): number {
    return this.streams + this.#queue.length + (this.#current ? 1 : 0);
  }

  /** Queues a command. Rejects if the thread dies, or if the signal aborts before the command is sent. */
  run(command: Command, signal?: AbortSignal): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const waiting: QueuedCommand<Command, Reply> = {
        command,
        resolve: done(resolve),
        reject: done(reject),
      };
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
      if (this.#failure) return reject(this.#failure);
      if (signal?.aborted) return reject(signal.reason);
      signal?.addEventListener('abort', abort, { once: true });
      this.#queue.push(waiting);
      this.#next();
    });
  }

  /** Sends a command without waiting for a reply. */
  post(command: Command): void {
    this.#worker.postMessage(command);
  }

  /** Terminates the thread and rejects its pending commands. */
  kill(error: Error): void {
    if (this.#failure) return;
    this.#failure = error;
    this.#current?.reject(error);
    for (const waiting of this.#queue.splice(0)) waiting.reject(error);
    void this.#worker.terminate();
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #next(): void {
    if (this.#current || this.#failure) return;
    this.#current = this.#queue.shift();
    if (this.#current) this.#worker.postMessage(this.#current.command);
  }
}

/** A pool of up to `size` threads of one script, started on demand. */
export class WorkerPool<Command, Reply> {
  readonly #start: () => WorkerThread<Command, Reply>;
  readonly #size: number;
  #threads: WorkerThread<Command, Reply>[] = [];
  #isClosed = false;

  constructor(size: number, script: URL, workerData?: unknown) {
    this.#size = size;
    this.#start = () => new WorkerThread(script, workerData);
  }

  leastBusy(): WorkerThread<Command, Reply> {
    if (this.#isClosed) throw new Error('The pool is closed');
    this.#threads = this.#threads.filter(({ isAlive }) => isAlive);
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
    this.#isClosed = true;
    await Promise.all(this.#threads.splice(0).map((thread) => thread.terminate()));
  }
}
