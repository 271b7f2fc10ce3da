import type { components } from '../generated/http.ts';
import type { Caller } from './call.ts';
import type { WithModelOf } from './model-ids.ts';
import { FileTasks } from './tasks/file-tasks.ts';
import {
  type CompletedVideo,
  isCompletedVideo,
  recordState,
  type VideoTask,
  videoState,
} from './tasks/task-protocol.ts';

type Schemas = components['schemas'];
type FamilyRecord = Schemas['FamilyRecord'];
export type VideoGenerationRequest = WithModelOf<
  Schemas['VideoGenerationRequest'],
  'native_video' | 'official' | 'eta'
>;
export type VideoGenerationReply = Schemas['VideoGenerationReply'];
export type CompletedGeneration =
  | CompletedVideo
  | (FamilyRecord & { data: { status: 'SUCCESS'; result_url: string } });

/**
 * Video tasks of all models on the generic route. Seedance models return their own record format.
 * `POST /v1/video/generations`, `GET /v1/video/generations/{task_id}`
 */
export class VideoGenerations extends FileTasks<
  VideoGenerationRequest,
  VideoTask,
  VideoGenerationReply,
  CompletedGeneration
> {
  constructor(caller: Caller) {
    super(caller, {
      create: (body, options) => caller.call('createGenericVideo', { ...options, body }),
      idOf: ({ id }) => id,
      read: (task_id, options) =>
        caller.callWithResponse('getGenericVideo', { ...options, params: { path: { task_id } } }),
      stateOf: (task) => ('code' in task ? recordState(task.data, task.data.fail_reason) : videoState(task)),
      isDone: (task): task is CompletedGeneration =>
        'code' in task ? task.data.status === 'SUCCESS' : isCompletedVideo(task),
      urlOf: (task) => ('code' in task ? task.data.result_url : task.video_url),
    });
  }
}
