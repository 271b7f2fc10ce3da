import type { components, operations } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';
import type { WithModelOf } from './model-ids.ts';
import { PagePromise, type PageSource } from './page-promise.ts';
import { FileTasks } from './tasks/file-tasks.ts';
import type { TaskState } from './tasks/task-protocol.ts';

type Schemas = components['schemas'];
export type OfficialTaskRequest = WithModelOf<Schemas['OfficialTaskRequest'], 'official'>;
export type OfficialTask = Schemas['OfficialTask'];
export type OfficialTaskListQuery = NonNullable<operations['listOfficialVideos']['parameters']['query']>;
export type OfficialTaskPage = Schemas['OfficialTaskListReply'];
export type SucceededOfficialTask = OfficialTask & {
  status: 'succeeded';
  content: Schemas['OfficialTaskContent'];
};

/**
 * Seedance videos in the official format.
 * `POST /api/v3/contents/generations/tasks`, `GET /api/v3/contents/generations/tasks/{task_id}`
 */
export class OfficialVideos extends FileTasks<
  OfficialTaskRequest,
  Schemas['OfficialTaskCreatedReply'],
  OfficialTask,
  SucceededOfficialTask
> {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    super(caller, {
      create: (body, options) => caller.call('createOfficialVideo', { ...options, body }),
      idOf: ({ id }) => id,
      read: (task_id, options) =>
        caller.callWithResponse('getOfficialVideo', { ...options, params: { path: { task_id } } }),
      stateOf: officialState,
      isDone: (task): task is SucceededOfficialTask => task.status === 'succeeded',
      urlOf: ({ content, outputs, video_url }) => content?.video_url ?? outputs?.[0] ?? video_url,
    });
    this.#caller = caller;
  }

  /** Lists the tasks, newest first. `GET /api/v3/contents/generations/tasks` */
  list(
    query: OfficialTaskListQuery = {},
    options: CallOptions = {},
  ): PagePromise<OfficialTask, OfficialTaskPage> {
    return new PagePromise(this.#page(query, options));
  }

  /** Cancels a queued task, or deletes an ended one. */
  async delete(id: string, options: CallOptions = {}): Promise<void> {
    await this.#caller.call('deleteOfficialVideo', { ...options, params: { path: { task_id: id } } });
  }

  #page(query: OfficialTaskListQuery, options: CallOptions): PageSource<OfficialTask, OfficialTaskPage> {
    const { page_num = 1, page_size = defaultPageSize } = query;
    return {
      load: () => this.#caller.call('listOfficialVideos', { ...options, params: { query } }),
      itemsOf: ({ items }) => items,
      next: ({ items, total }) => {
        const isLast = items.length === 0 || page_num * page_size >= total || page_num >= maxPageNumber;
        return isLast ? undefined : this.#page({ ...query, page_num: page_num + 1 }, options);
      },
    };
  }
}

/** The page size of the contract without `page_size`, and its last page. */
const defaultPageSize = 20;
const maxPageNumber = 500;

const endMessages: Readonly<Record<string, string>> = {
  failed: 'The task failed.',
  expired: 'The task expired.',
  cancelled: 'The task was cancelled.',
};

function officialState({ status, error }: OfficialTask): TaskState {
  const message = endMessages[status];
  return { status, failure: message === undefined ? undefined : { code: status, message, ...error } };
}
