import type { components, operations } from '../generated/http.ts';
import { ByteAnswer } from './byte-answer.ts';
import type { Caller, CallOptions } from './call.ts';
import type { ReceiveOptions } from './tasks/read-resuming.ts';
import { type DownloadOptions, TaskFamily } from './tasks/task-family.ts';
import { type CompletedVideo, isCompletedVideo, type VideoTask, videoState } from './tasks/task-protocol.ts';

type Schemas = components['schemas'];
export type VideoRequest = Schemas['CreateVideoRequest'];
export type VideoListQuery = NonNullable<operations['listVideos']['parameters']['query']>;

interface Variant {
  /** The video, or a picture of it. */
  variant?: 'video' | 'thumbnail';
}

/** Video tasks of all models in the videos format. `POST /v1/videos`, `GET /v1/videos/{task_id}` */
export class Videos extends TaskFamily<VideoRequest, VideoTask, VideoTask, CompletedVideo> {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    super(caller, {
      create: (body, options) => caller.call('createVideo', { ...options, body }),
      idOf: ({ id }) => id,
      read: (task_id, options) =>
        caller.callWithReply('getVideo', { ...options, params: { path: { task_id } } }),
      stateOf: videoState,
      isDone: isCompletedVideo,
      urlOf: ({ video_url }) => video_url,
    });
    this.#caller = caller;
  }

  /** The tasks of this format, newest first unless the query says otherwise; pages are fetched as they are reached. */
  async *list(query: VideoListQuery = {}, options: CallOptions = {}): AsyncGenerator<VideoTask, void> {
    let { after } = query;
    for (;;) {
      const page = await this.#caller.call('listVideos', {
        ...options,
        params: { query: { ...query, after } },
      });
      yield* page.data;
      // A page that leads to itself must not be read forever.
      if (!page.has_more || !page.last_id || page.last_id === after) return;
      after = page.last_id;
    }
  }

  /** Deletes a task that has ended. */
  delete(id: string, options: CallOptions = {}): Promise<Schemas['VideoDeletedReply']> {
    return this.#caller.call('deleteVideo', { ...options, params: { path: { task_id: id } } });
  }

  /** The video, or with `variant` a picture of it, through the gateway. */
  override async download(id: string, options: DownloadOptions & Variant = {}): Promise<ByteAnswer> {
    const { variant, range, ...call } = options;
    const params = { path: { task_id: id }, query: { variant }, header: { Range: range } };
    const init = { ...call, params, parseAs: 'stream' } as const;
    return new ByteAnswer((await this.#caller.callWithReply('downloadVideoContent', init)).response);
  }

  override receive(id: string, options: ReceiveOptions & Variant = {}): AsyncGenerator<Uint8Array, void> {
    return super.receive(id, options);
  }

  override downloadTo(id: string, file: string, options: ReceiveOptions & Variant = {}): Promise<void> {
    return super.downloadTo(id, file, options);
  }
}
