import type { components, operations } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';
import { FileTasks } from './tasks/file-tasks.ts';
import type { TaskState } from './tasks/task-protocol.ts';

type Schemas = components['schemas'];
export type OfficialTaskRequest = Schemas['OfficialTaskRequest'];
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

  /** Returns a page of the tasks, newest first. `GET /api/v3/contents/generations/tasks` */
  list(query: OfficialTaskListQuery = {}, options: CallOptions = {}): Promise<OfficialTaskPage> {
    return this.#caller.call('listOfficialVideos', { ...options, params: { query } });
  }

  /** Cancels a queued task, or deletes an ended one. */
  async delete(id: string, options: CallOptions = {}): Promise<void> {
    await this.#caller.call('deleteOfficialVideo', { ...options, params: { path: { task_id: id } } });
  }
}

const endMessages: Readonly<Record<string, string>> = {
  failed: 'The task failed.',
  expired: 'The task expired.',
  cancelled: 'The task was cancelled.',
};

function officialState({ status, error }: OfficialTask): TaskState {
  const message = endMessages[status];
  return { status, failure: message === undefined ? undefined : { code: status, message, ...error } };
}
