import type { Picture } from '../media/scenes/scene.ts';
import type { Records, Storage } from '../storage.ts';
import type { Drawing, ImageJob } from './image-job.ts';

/** A job that waits for its prompt. */
export interface WaitingJob {
  job: Omit<ImageJob, 'drawing'>;
  of: 'inpaint' | 'custom-zoom';
  source: Picture;
  ratio: number;
  scale: Drawing['scale'];
}

/** The jobs that wait for their prompt, kept until they have it or are too old. */
export class WaitingJobs {
  readonly #now: () => number;
  readonly #retentionMs: number;
  readonly #records: Records<WaitingJob>;
  /** The oldest first. */
  readonly #jobs: Map<string, WaitingJob>;

  /** Times are in milliseconds, `now` since the epoch. */
  constructor({ storage, now, retentionMs }: { storage: Storage; now: () => number; retentionMs: number }) {
    this.#now = now;
    this.#retentionMs = retentionMs;
    this.#records = storage.records('waiting image job');
    this.#jobs = new Map(this.#records.all());
  }

  find(id: string): WaitingJob | undefined {
    this.#dropOld();
    return this.#jobs.get(id);
  }

  /** It is on disk when this returns. */
  add(id: string, waiting: WaitingJob): void {
    this.#dropOld();
    this.#records.put(id, waiting);
    this.#jobs.set(id, waiting);
  }

  remove(id: string): void {
    this.#jobs.delete(id);
    this.#records.delete([id]);
  }

  #dropOld(): void {
    const oldest = this.#now() - this.#retentionMs;
    for (const [id, { job }] of this.#jobs) {
      if (job.submittedAt > oldest) break;
      this.remove(id);
    }
  }
}
