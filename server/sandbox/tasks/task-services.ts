import type { FileStore } from '../http/file-store.ts';
import type { MediaEngine } from '../media/engine.ts';
import type { Drawing } from '../media/jobs.ts';
import type { Storage } from '../storage.ts';

/** What the protocols of tasks share. */
export interface TaskServices {
  storage: Storage;
  engine: MediaEngine;
  results: FileStore<Drawing>;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Milliseconds that a task takes. */
  taskTime: number;
}
