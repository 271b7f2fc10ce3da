import { availableParallelism } from 'node:os';
import type { Route } from './http/exchange.ts';
import { FileStore } from './http/file-store.ts';
import { imageRoutes } from './image-jobs/image-routes.ts';
import { MediaEngine } from './media/engine.ts';
import type { DeferredFile } from './media/jobs.ts';
import { musicRoutes } from './music/music-routes.ts';
import { espeakPackage } from './speech/espeak.ts';
import type { Storage } from './storage.ts';
import type { TaskServices } from './tasks/task-services.ts';
import { createVideoUpstream } from './video/video-upstream.ts';

export interface TaskUpstreamOptions {
  storage: Storage;
  /** Duration of a task in milliseconds, a fifth of it in the queue. Default 3000. */
  taskDurationMs?: number;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Allow media URLs in loopback and private networks. */
  allowPrivateUrls?: boolean;
  /** Number of media threads, which start on demand. Default: one less than the number of cores, at most 4. */
  workers?: number;
  /** Render small, low-quality files, for tests that render many of them. Default false. */
  draft?: boolean;
  /** Side of one square image in a grid of four, in pixels. Default 512, in draft mode 64. */
  imageSide?: number;
  /** Approximate length of a song in seconds. Default 30, less if tasks are shorter than 3 seconds. */
  songSeconds?: number;
  /** Package of the speech engine. Without it, songs are instrumental. */
  speechEngine?: string;
}

/** The asynchronous protocols of the upstream. */
export interface TaskUpstream {
  routes: readonly Route[];
  /** Sets the base URL, without a trailing slash. Called when the server knows its port. */
  setAddress(url: string): void;
  close(): Promise<void>;
}

/**
 * Maximum size of the media files on disk, in bytes. It is large because an evicted file disappears before it expires.
 */
const maxFileBytes = 4 * 1024 ** 3;

/** Creates the routes of all asynchronous protocols, with their own state and threads. */
export function createTaskUpstream(options: TaskUpstreamOptions): TaskUpstream {
  const { storage, taskDurationMs = 3000, now, allowPrivateUrls = false, draft = false } = options;
  const { songSeconds = Math.min(30, taskDurationMs / 100), speechEngine = espeakPackage } = options;
  const engine = new MediaEngine({
    workers: options.workers ?? Math.max(1, Math.min(4, availableParallelism() - 1)),
  });
  const results = new FileStore<DeferredFile>({
    folder: 'media',
    storage,
    now,
    maxBytes: maxFileBytes,
    render: ({ job, plan }) => engine.run(job, plan),
  });
  const services: TaskServices = { storage, engine, results, now, taskDurationMs, draft };
  const video = createVideoUpstream(services, { allowPrivateUrls });
  return {
    routes: [
      ...video.routes,
      ...imageRoutes(services, options.imageSide ?? (draft ? 64 : 512)),
      ...musicRoutes(services, { songSeconds, speechEngine }),
      { methods: ['GET', 'HEAD'], path: /^\/media\/[^/]+$/, handler: results.serve, isPublic: true },
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
