import { availableParallelism } from 'node:os';
import type { Route } from '../http/exchange.ts';
import { FileStore } from '../http/file-store.ts';
import { MediaEngine } from '../media/engine.ts';
import type { Drawing } from '../media/jobs.ts';
import type { Storage } from '../storage.ts';
import { assetRoutes } from './assets/asset-routes.ts';
import { Assets } from './assets/assets.ts';
import { etaRoutes } from './eta/eta-routes.ts';
import { MediaLoader } from './media-loader.ts';
import { nativeRoutes } from './native/native-tasks.ts';
import { officialRoutes } from './official/official-tasks.ts';
import type { VideoServices } from './protocol.ts';

export interface VideoUpstreamOptions {
  storage: Storage;
  /** Milliseconds that a task takes, a fifth of it in the queue. Default 3000. */
  taskTime?: number;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Fetch media from loopback and private networks, too. */
  allowPrivateUrls?: boolean;
  /** Threads that make and read media; they start with the first job. Default: one less than the cores, at most 4. */
  workers?: number;
}

/** The upstream's video, 3D and asset protocols. */
export interface VideoUpstream {
  routes: readonly Route[];
  /** To be called as soon as the server knows its address, which has no slash at the end. */
  setAddress(url: string): void;
  close(): Promise<void>;
}

/** Bytes on disk. */
const fileCapacity = 1024 ** 3;

/** Makes the routes of video, 3D and asset jobs, with their own state and their own threads. */
export function createVideoUpstream(options: VideoUpstreamOptions): VideoUpstream {
  const { storage, taskTime = 3000, now, allowPrivateUrls = false } = options;
  const engine = new MediaEngine({
    workers: options.workers ?? Math.max(1, Math.min(4, availableParallelism() - 1)),
  });
  const results = new FileStore<Drawing>({
    folder: 'media',
    storage,
    now,
    capacity: fileCapacity,
    make: ({ job, plan }) => engine.run(job, plan),
  });
  const media = new MediaLoader({ engine, allowPrivateUrls, ownAddress: () => results.baseUrl });
  const uploads = new FileStore({ folder: 'uploads', storage, now, capacity: Infinity });
  const assets = new Assets({ storage, media, files: uploads, now, taskTime });
  const services: VideoServices = { storage, results, media, assets, now, taskTime };
  return {
    routes: [
      ...nativeRoutes(services),
      ...officialRoutes(services),
      ...etaRoutes(services),
      ...assetRoutes(services),
      { methods: ['GET', 'HEAD'], path: /^\/media\/[^/]+$/, handler: results.serve, open: true },
      { methods: ['GET', 'HEAD'], path: /^\/uploads\/[^/]+$/, handler: uploads.serve, open: true },
    ],
    setAddress(url) {
      results.baseUrl = url;
      uploads.baseUrl = url;
    },
    async close() {
      await Promise.all([media.close(), engine.close()]);
    },
  };
}
