import type { TaskServices } from '../tasks/task-services.ts';
import type { Assets } from './assets/assets.ts';
import type { MediaLoader } from './media-loader.ts';

/** Services shared by the video, 3D and asset routes. */
export interface VideoServices extends TaskServices {
  media: MediaLoader;
  assets: Assets;
}
