import type { components } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';
import type { WithModelOf } from './model-ids.ts';
import { FileTasks } from './tasks/file-tasks.ts';
import type { TaskState } from './tasks/task-protocol.ts';

type Schemas = components['schemas'];
type NativeTaskSubmittedReply = Schemas['NativeTaskSubmittedReply'];
export type NativeTask = Schemas['NativeTask'];
export type GammaVideoRequest = WithModelOf<Schemas['GammaVideoRequest'], 'native_video'>;
export type Model3dRequest = WithModelOf<Schemas['Model3dRequest'], 'native_3d'>;

/** A native task with its video or 3D files. */
export type SucceededNativeTask = NativeTask & { output: Schemas['NativeTaskSucceeded'] };

/** Tasks that are polled at `GET /api/v1/tasks/{task_id}`. */
class NativeTasks<Request> extends FileTasks<
  Request,
  NativeTaskSubmittedReply,
  NativeTask,
  SucceededNativeTask
> {
  readonly #caller: Caller;

  constructor(
    caller: Caller,
    create: (body: Request, options: CallOptions) => Promise<NativeTaskSubmittedReply>,
  ) {
    super(caller, {
      create,
      idOf: ({ output }) => output.task_id,
      read: (task_id, options) =>
        caller.callWithResponse('getNativeTask', { ...options, params: { path: { task_id } } }),
      stateOf: nativeState,
      isDone: (task): task is SucceededNativeTask => task.output.task_status === 'SUCCEEDED',
      urlOf: nativeUrl,
    });
    this.#caller = caller;
  }

  /** Cancels a waiting task. */
  async cancel(id: string, options: CallOptions = {}): Promise<void> {
    await this.#caller.call('cancelNativeTask', { ...options, params: { path: { task_id: id } } });
  }
}

/** Gamma videos in the native format. */
export class NativeVideos extends NativeTasks<GammaVideoRequest> {
  constructor(caller: Caller) {
    super(caller, (body, options) => caller.call('createNativeVideo', { ...options, body }));
  }
}

/** 3D models. Downloads return the GLB. */
export class Models3d extends NativeTasks<Model3dRequest> {
  constructor(caller: Caller) {
    super(caller, (body, options) => caller.call('createModel3d', { ...options, body }));
  }
}

const endMessages: Readonly<Record<string, string>> = {
  FAILED: 'The task failed.',
  CANCELED: 'The task was canceled.',
  UNKNOWN: 'The task does not exist, or is older than a day.',
};

function nativeState({ output }: NativeTask): TaskState {
  const status = output.task_status;
  const endMessage = endMessages[status];
  if (endMessage === undefined) return { status };
  const { code, message } = { code: status, message: endMessage, ...output };
  return { status, failure: { code, message } };
}

function nativeUrl({ output }: NativeTask): string | undefined {
  if (output.task_status !== 'SUCCEEDED') return undefined;
  return output.video_url ?? output.results?.pbr_model_url ?? output.results?.base_model_url;
}
