import { WorkerPool } from '../worker-pool.ts';
import type { Command, JobName, Jobs, Reply } from './jobs.ts';

/** Jobs whose duration depends on their input. They have a separate pool, so that short jobs do not wait for them. */
const longJobs: ReadonlySet<JobName> = new Set(['renderClip', 'renderSong', 'renderStems', 'renderSongWav']);

/** Renders and reads media in two thread pools: one for long jobs, one for short jobs. */
export class MediaEngine {
  readonly #longJobPool: WorkerPool<Command, Reply>;
  readonly #shortJobPool: WorkerPool<Command, Reply>;

  /** `workers`: number of threads per pool. They start on demand. */
  constructor({ workers }: { workers: number }) {
    const script = new URL('./worker.ts', import.meta.url);
    this.#longJobPool = new WorkerPool(workers, script);
    this.#shortJobPool = new WorkerPool(workers, script);
  }

  /** Runs one job. Rejects if it fails, its thread dies, or the engine closes. */
  async run<Name extends JobName>(name: Name, input: Jobs[Name]['input']): Promise<Jobs[Name]['output']> {
    const thread = (longJobs.has(name) ? this.#longJobPool : this.#shortJobPool).leastBusy();
    const reply = await thread.run({ name, input });
    if ('output' in reply) return reply.output as Jobs[Name]['output'];
    if (reply.broken) thread.kill(new Error('The media worker broke'));
    throw new Error(reply.error);
  }

  async close(): Promise<void> {
    await Promise.all([this.#longJobPool.close(), this.#shortJobPool.close()]);
  }
}
