import { Worker } from 'node:worker_threads';
import type { Command, Reply } from './jobs.ts';

interface Waiting {
  command: Command;
  settle: (output: unknown) => void;
  fail: (error: Error) => void;
}

/** One media worker, which does one job after the other. */
export class MediaThread {
  readonly #worker: Worker;
  readonly #queue: Waiting[] = [];
  #current: Waiting | undefined;
  #death: Error | undefined;

  constructor() {
    // No inherited flags: a test runner's loader has no business in here.
    this.#worker = new Worker(new URL('./worker.ts', import.meta.url), { execArgv: [] });
    this.#worker.unref();
    this.#worker.on('message', (reply: Reply) => this.#take(reply));
    this.#worker.on('error', (error: Error) => this.#die(error));
    this.#worker.on('exit', () => this.#die(new Error('The media worker stopped')));
  }

  get alive(): boolean {
    return this.#death === undefined;
  }

  /** Jobs under way and waiting. */
  get load(): number {
    return this.#queue.length + (this.#current ? 1 : 0);
  }

  /** Does a job in its turn; rejects when it fails or the thread dies. */
  run(command: Command): Promise<unknown> {
    return new Promise((settle, fail) => {
      if (this.#death) return fail(this.#death);
      this.#queue.push({ command, settle, fail });
      this.#next();
    });
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #take(reply: Reply): void {
    const done = this.#current;
    this.#current = undefined;
    if ('error' in reply) {
      done?.fail(new Error(reply.error));
      if (reply.broken) this.#die(new Error('The media worker broke'));
    } else {
      done?.settle(reply.output);
    }
    this.#next();
  }

  #next(): void {
    if (this.#current || this.#death) return;
    this.#current = this.#queue.shift();
    if (this.#current) this.#worker.postMessage(this.#current.command);
  }

  #die(error: Error): void {
    if (this.#death) return;
    this.#death = error;
    this.#current?.fail(error);
    for (const waiting of this.#queue.splice(0)) waiting.fail(error);
    void this.#worker.terminate();
  }
}
