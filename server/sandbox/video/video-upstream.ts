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

/** The upstream's video, 3D and asset protocols. */
export interface VideoUpstream {
  routes: readonly Route[];
  /** To be called as soon as the server knows its address, which has no slash at the end. */
  setAddress(url: string): void;
  close(): Promise<void>;
}

/** Makes the routes of video, 3D and asset jobs. `allowPrivateUrls`: fetch media from loopback and private networks, too. */
export function createVideoUpstream(
  shared: TaskServices,
  { allowPrivateUrls }: { allowPrivateUrls: boolean },
): VideoUpstream {
  const { storage, engine, results, now, taskDurationMs } = shared;
  const media = new MediaLoader({ engine, allowPrivateUrls, ownAddress: () => results.baseUrl });
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
