import type { FileStore } from '../http/file-store.ts';
import type { MediaEngine } from '../media/engine.ts';
import type { DeferredFile } from '../media/jobs.ts';
import type { Storage } from '../storage.ts';

/** Services shared by the asynchronous protocols. */
export interface TaskServices {
  storage: Storage;
  engine: MediaEngine;
  results: FileStore<DeferredFile>;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Duration of a task in milliseconds. */
  taskDurationMs: number;
  /** Render small, low-quality files. */
  draft: boolean;
}
