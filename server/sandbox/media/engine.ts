import { WorkerPool } from '../worker-pool.ts';
import type { Command, JobName, Jobs, Reply } from './jobs.ts';

/** Makes and reads pictures, video and 3D models in a small pool of threads. */
export class MediaEngine {
  readonly #pool: WorkerPool<Command, Reply>;

  constructor({ workers }: { workers: number }) {
    this.#pool = new WorkerPool(workers, new URL('./worker.ts', import.meta.url));
  }

  /** Does one job. Rejects when it fails, its thread dies, or the engine closes. */
  async run<Name extends JobName>(name: Name, input: Jobs[Name]['input']): Promise<Jobs[Name]['output']> {
    const thread = this.#pool.leastBusy();
    const reply = await thread.run({ name, input });
    if ('output' in reply) return reply.output as Jobs[Name]['output'];
    if (reply.broken) thread.kill(new Error('The media worker broke'));
    throw new Error(reply.error);
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}
