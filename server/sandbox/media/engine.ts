import { WorkerPool } from '../worker-pool.ts';
import type { Command, JobName, Jobs, Reply } from './jobs.ts';

/** What takes as long as its input asks for, so that nothing quick may wait behind it. */
const lengthy: ReadonlySet<JobName> = new Set(['renderClip', 'renderSong', 'renderStems', 'renderSongWav']);

/** Makes and reads media in two small pools of threads: one for what takes long, one for the rest. */
export class MediaEngine {
  readonly #lengthy: WorkerPool<Command, Reply>;
  readonly #quick: WorkerPool<Command, Reply>;

  /** `workers`: threads of each pool; they start with its first job. */
  constructor({ workers }: { workers: number }) {
    const script = new URL('./worker.ts', import.meta.url);
    this.#lengthy = new WorkerPool(workers, script);
    this.#quick = new WorkerPool(workers, script);
  }

  /** Does one job. Rejects when it fails, its thread dies, or the engine closes. */
  async run<Name extends JobName>(name: Name, input: Jobs[Name]['input']): Promise<Jobs[Name]['output']> {
    const thread = (lengthy.has(name) ? this.#lengthy : this.#quick).leastBusy();
    const reply = await thread.run({ name, input });
    if ('output' in reply) return reply.output as Jobs[Name]['output'];
    if (reply.broken) thread.kill(new Error('The media worker broke'));
    throw new Error(reply.error);
  }

  async close(): Promise<void> {
    await Promise.all([this.#lengthy.close(), this.#quick.close()]);
  }
}
