import { availableParallelism } from 'node:os';
import type { Route } from './http/exchange.ts';
import { FileStore } from './http/file-store.ts';
import { imageRoutes } from './image-jobs/image-routes.ts';
import { MediaEngine } from './media/engine.ts';
import type { PromisedFile } from './media/jobs.ts';
import { musicRoutes } from './music/music-routes.ts';
import { espeakPackage } from './speech/espeak.ts';
import type { Storage } from './storage.ts';
import type { TaskServices } from './tasks/task-services.ts';
import { createVideoUpstream } from './video/video-upstream.ts';

export interface TaskUpstreamOptions {
  storage: Storage;
  /** Milliseconds that a task takes, a fifth of it in the queue. Default 3000. */
  taskTime?: number;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Fetch media from loopback and private networks, too. */
  allowPrivateUrls?: boolean;
  /** Threads that make and read media; they start with the first job. Default: one less than the cores, at most 4. */
  workers?: number;
  /** Draw small and coarse files: for tests that make many of them. Default false. */
  draft?: boolean;
  /** Pixels of the side of one square picture in a grid of four. Default 512, as a draft 64. */
  pictureSide?: number;
  /** About how long a song is, in seconds. Default 30, less where tasks take less than 3 seconds. */
  songSeconds?: number;
  /** Package of the speech engine. Without it songs are instrumental. */
  speechEngine?: string;
}

/** The upstream's protocols of tasks. */
export interface TaskUpstream {
  routes: readonly Route[];
  /** To be called as soon as the server knows its address, which has no slash at the end. */
  setAddress(url: string): void;
  close(): Promise<void>;
}

/** Bytes on disk. What had to make room is gone before its time, so there is room for much. */
const fileCapacity = 4 * 1024 ** 3;

/** Makes the routes of everything that takes its time, with its own state and its own threads. */
export function createTaskUpstream(options: TaskUpstreamOptions): TaskUpstream {
  const { storage, taskTime = 3000, now, allowPrivateUrls = false, draft = false } = options;
  const { songSeconds = Math.min(30, taskTime / 100), speechEngine = espeakPackage } = options;
  const engine = new MediaEngine({
    workers: options.workers ?? Math.max(1, Math.min(4, availableParallelism() - 1)),
  });
  const results = new FileStore<PromisedFile>({
    folder: 'media',
    storage,
    now,
    capacity: fileCapacity,
    make: ({ job, plan }) => engine.run(job, plan),
  });
  const services: TaskServices = { storage, engine, results, now, taskTime, draft };
  const video = createVideoUpstream(services, { allowPrivateUrls });
  return {
    routes: [
      ...video.routes,
      ...imageRoutes(services, options.pictureSide ?? (draft ? 64 : 512)),
      ...musicRoutes(services, { songSeconds, speechEngine }),
      { methods: ['GET', 'HEAD'], path: /^\/media\/[^/]+$/, handler: results.serve, open: true },
    ],
    setAddress(url) {
      results.baseUrl = url;
      video.setAddress(url);
    },
    async close() {
      await Promise.all([video.close(), engine.close()]);
    },
  };
}
