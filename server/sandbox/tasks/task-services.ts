import type { FileStore } from '../http/file-store.ts';
import type { MediaEngine } from '../media/engine.ts';
import type { PromisedFile } from '../media/jobs.ts';
import type { Storage } from '../storage.ts';

/** What the protocols of tasks share. */
export interface TaskServices {
  storage: Storage;
  engine: MediaEngine;
  results: FileStore<PromisedFile>;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Milliseconds that a task takes. */
  taskTime: number;
  /** Draw small and coarse files. */
  draft: boolean;
}
