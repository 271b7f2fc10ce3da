import type { SceneImage } from '../media/scenes/scene.ts';
import type { Records, Storage } from '../storage.ts';
import type { Drawing, ImageJob } from './image-job.ts';

/** A job that waits for a prompt. Stored on disk. */
export interface WaitingJob {
  job: Omit<ImageJob, 'drawing'>;
  of: 'inpaint' | 'custom-zoom';
  source: SceneImage;
  ratio: number;
  scale: Drawing['scale'];
}

/** The jobs that wait for a prompt. They are deleted when they get one or expire. */
export class WaitingJobs {
  readonly #now: () => number;
  readonly #retentionMs: number;
  readonly #records: Records<WaitingJob>;
  /** Sorted by creation time, the oldest first. */
  readonly #jobs: Map<string, WaitingJob>;

  /** Times are in milliseconds, `now` since the epoch. */
  constructor({ storage, now, retentionMs }: { storage: Storage; now: () => number; retentionMs: number }) {
    this.#now = now;
    this.#retentionMs = retentionMs;
    this.#records = storage.records('waiting image job');
    this.#jobs = new Map(this.#records.all());
  }

  find(id: string): WaitingJob | undefined {
    this.#deleteExpired();
    return this.#jobs.get(id);
  }

  /** Stores a job. It is durable when this returns. */
  add(id: string, waiting: WaitingJob): void {
    this.#deleteExpired();
    this.#records.put(id, waiting);
    this.#jobs.set(id, waiting);
  }

  remove(id: string): void {
    this.#jobs.delete(id);
    this.#records.delete([id]);
  }

  #deleteExpired(): void {
    const oldest = this.#now() - this.#retentionMs;
    for (const [id, { job }] of this.#jobs) {
      if (job.submittedAt > oldest) break;
      this.remove(id);
    }
  }
}
