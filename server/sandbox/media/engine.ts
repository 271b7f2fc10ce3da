import type { JobName, Jobs } from './jobs.ts';
import { MediaThread } from './media-thread.ts';

/** Makes and reads pictures, video and 3D models in a small pool of threads, started when they are first needed. */
export class MediaEngine {
  readonly #size: number;
  #threads: MediaThread[] = [];
  #closed = false;

  constructor({ workers }: { workers: number }) {
    this.#size = workers;
  }

  /** Does one job. Rejects when it fails, its thread dies, or the engine closes. */
  async run<Name extends JobName>(name: Name, input: Jobs[Name]['input']): Promise<Jobs[Name]['output']> {
    if (this.#closed) throw new Error('The media engine is closed');
    return (await this.#leastBusy().run({ name, input })) as Jobs[Name]['output'];
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#threads.splice(0).map((thread) => thread.terminate()));
  }

  #leastBusy(): MediaThread {
    this.#threads = this.#threads.filter((thread) => thread.alive);
    const idle = this.#threads.find((thread) => thread.load === 0);
    if (idle) return idle;
    if (this.#threads.length < this.#size) {
      const started = new MediaThread();
      this.#threads.push(started);
      return started;
    }
    return this.#threads.reduce((least, thread) => (thread.load < least.load ? thread : least));
  }
}
