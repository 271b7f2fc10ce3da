import type { components, operations } from '../generated/http.ts';
import { BinaryResponse } from './binary-response.ts';
import type { Caller, CallOptions } from './call.ts';
import type { WithModelOf } from './model-ids.ts';
import { listAfter, type PagePromise } from './page-promise.ts';
import { type DownloadOptions, FileTasks } from './tasks/file-tasks.ts';
import type { ReceiveOptions } from './tasks/resumable-download.ts';
import { type CompletedVideo, isCompletedVideo, type VideoTask, videoState } from './tasks/task-protocol.ts';

type Schemas = components['schemas'];
export type VideoRequest = WithModelOf<Schemas['CreateVideoRequest'], 'native_video' | 'official' | 'eta'>;
export type VideoPage = Schemas['VideoTaskListReply'];
export type VideoListQuery = NonNullable<operations['listVideos']['parameters']['query']>;

interface Variant {
  /** The video or its thumbnail. */
  variant?: 'video' | 'thumbnail';
}

/** Video tasks of all models in the videos format. `POST /v1/videos`, `GET /v1/videos/{task_id}` */
export class Videos extends FileTasks<VideoRequest, VideoTask, VideoTask, CompletedVideo> {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    super(caller, {
      create: (body, options) => caller.call('createVideo', { ...options, body }),
      idOf: ({ id }) => id,
      read: (task_id, options) =>
        caller.callWithResponse('getVideo', { ...options, params: { path: { task_id } } }),
      stateOf: videoState,
      isDone: isCompletedVideo,
      urlOf: ({ video_url }) => video_url,
    });
    this.#caller = caller;
  }

  /** Lists the tasks of this format, by default newest first. `GET /v1/videos` */
  list(query: VideoListQuery = {}, options: CallOptions = {}): PagePromise<VideoTask, VideoPage> {
    const load = (page: VideoListQuery) =>
      this.#caller.call('listVideos', { ...options, params: { query: page } });
    return listAfter(query, load, ({ data }) => data);
  }

  /** Deletes an ended task. */
  delete(id: string, options: CallOptions = {}): Promise<Schemas['VideoDeletedReply']> {
    return this.#caller.call('deleteVideo', { ...options, params: { path: { task_id: id } } });
  }

  /** Downloads the video, or its thumbnail with `variant`, through the gateway. */
  override async download(id: string, options: DownloadOptions & Variant = {}): Promise<BinaryResponse> {
    const { variant, range, ...call } = options;
    const params = { path: { task_id: id }, query: { variant }, header: { Range: range } };
    const init = { ...call, params, parseAs: 'stream' } as const;
    return new BinaryResponse((await this.#caller.callWithResponse('downloadVideoContent', init)).response);
  }

  override receive(id: string, options: ReceiveOptions & Variant = {}): AsyncGenerator<Uint8Array, void> {
    return super.receive(id, options);
  }

  override downloadTo(id: string, file: string, options: ReceiveOptions & Variant = {}): Promise<void> {
    return super.downloadTo(id, file, options);
  }
}
