import type { Route } from '../http/exchange.ts';
import { FileStore } from '../http/file-store.ts';
import type { TaskServices } from '../tasks/task-services.ts';
import { assetRoutes } from './assets/asset-routes.ts';
import { Assets } from './assets/assets.ts';
import { etaRoutes } from './eta/eta-routes.ts';
import { MediaLoader } from './media-loader.ts';
import { nativeRoutes } from './native/native-tasks.ts';
import { officialRoutes } from './official/official-tasks.ts';
import type { VideoServices } from './video-services.ts';

/** The video, 3D and asset protocols. */
export interface VideoUpstream {
  routes: readonly Route[];
  /** Sets the base URL, without a trailing slash. Called when the server knows its port. */
  setAddress(url: string): void;
  close(): Promise<void>;
}

/**
 * Creates the routes of video, 3D and asset tasks. `allowPrivateUrls`: allow media URLs in loopback and private
 * networks.
 */
export function createVideoUpstream(
  shared: TaskServices,
  { allowPrivateUrls }: { allowPrivateUrls: boolean },
): VideoUpstream {
  const { storage, engine, results, now, taskDurationMs } = shared;
  const media = new MediaLoader({ engine, allowPrivateUrls, ownOrigin: () => results.baseUrl });
  const uploads = new FileStore({ folder: 'uploads', storage, now, maxBytes: Infinity });
  const assets = new Assets({ storage, media, files: uploads, now, taskDurationMs });
  const services: VideoServices = { ...shared, media, assets };
  return {
    routes: [
      ...nativeRoutes(services),
      ...officialRoutes(services),
      ...etaRoutes(services),
      ...assetRoutes(services),
      { methods: ['GET', 'HEAD'], path: /^\/uploads\/[^/]+$/, handler: uploads.serve, isPublic: true },
    ],
    setAddress(url) {
      uploads.baseUrl = url;
    },
    close: () => media.close(),
  };
}
