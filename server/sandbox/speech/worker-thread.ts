import { Worker } from 'node:worker_threads';
import type { Command, Reply } from './commands.ts';

interface Waiting {
  command: Command;
  settle: (reply: Reply) => void;
  fail: (error: Error) => void;
}

/** One speech worker and the commands that wait for it; a command that nobody wants any more never reaches it. */
export class WorkerThread {
  readonly #worker: Worker;
  readonly #queue: Waiting[] = [];
  #current: Waiting | undefined;
  #death: Error | undefined;
  /** Open jobs, for choosing the least busy thread. */
  jobs = 0;

  constructor(engine: string) {
    // No inherited flags: a test runner's loader has no business in here.
    this.#worker = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: { engine },
      execArgv: [],
    });
    this.#worker.unref();
    this.#worker.on('message', (reply: Reply) => {
      this.#current?.settle(reply);
      this.#current = undefined;
      this.#next();
    });
    this.#worker.on('error', (error: Error) => this.#die(error));
    this.#worker.on('exit', () => this.#die(new Error('The speech worker stopped')));
  }

  get alive(): boolean {
    return this.#death === undefined;
  }

  /** Runs a command in its turn; rejects when the signal aborts first or the thread dies. */
  run(command: Command, signal: AbortSignal): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { command, settle: done(resolve), fail: done(reject) };
      const abort = () => {
        const position = this.#queue.indexOf(waiting);
        if (position >= 0) this.#queue.splice(position, 1);
        reject(signal.reason);
      };
      function done<Value>(then: (value: Value) => void): (value: Value) => void {
        return (value) => {
          signal.removeEventListener('abort', abort);
          then(value);
        };
      }
      if (this.#death) return reject(this.#death);
      if (signal.aborted) return reject(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      this.#queue.push(waiting);
      this.#next();
    });
  }

  /** Sends a command that has no answer. */
  post(command: Extract<Command, { kind: 'close' }>): void {
    this.#worker.postMessage(command);
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #next(): void {
    if (this.#current) return;
    this.#current = this.#queue.shift();
    if (this.#current) this.#worker.postMessage(this.#current.command);
  }

  #die(error: Error): void {
    if (this.#death) return;
    this.#death = error;
    this.#current?.fail(error);
    for (const waiting of this.#queue.splice(0)) waiting.fail(error);
  }
}
