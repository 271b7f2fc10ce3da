import type { components } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';
import { TaskFamily } from './tasks/task-family.ts';
import type { TaskState } from './tasks/task-protocol.ts';

type Schemas = components['schemas'];
type Submitted = Schemas['NativeTaskSubmittedReply'];
export type NativeTask = Schemas['NativeTask'];
export type GammaVideoRequest = Schemas['GammaVideoRequest'];
export type Model3dRequest = Schemas['Model3dRequest'];

/** A native task with its video or its 3D files. */
export type SucceededNativeTask = NativeTask & { output: Schemas['NativeTaskSucceeded'] };

/** The tasks that are read at `GET /api/v1/tasks/{task_id}`. */
class NativeTasks<Request> extends TaskFamily<Request, Submitted, NativeTask, SucceededNativeTask> {
  readonly #caller: Caller;

  constructor(caller: Caller, create: (body: Request, options: CallOptions) => Promise<Submitted>) {
    super(caller, {
      create,
      idOf: ({ output }) => output.task_id,
      read: (task_id, options) =>
        caller.callWithReply('getNativeTask', { ...options, params: { path: { task_id } } }),
      stateOf: nativeState,
      isDone: (task): task is SucceededNativeTask => task.output.task_status === 'SUCCEEDED',
      urlOf: nativeUrl,
    });
    this.#caller = caller;
  }

  /** Cancels a task that still waits. */
  async cancel(id: string, options: CallOptions = {}): Promise<void> {
    await this.#caller.call('cancelNativeTask', { ...options, params: { path: { task_id: id } } });
  }
}

/** Gamma videos in the provider's own form. */
export class NativeVideos extends NativeTasks<GammaVideoRequest> {
  constructor(caller: Caller) {
    super(caller, (body, options) => caller.call('createNativeVideo', { ...options, body }));
  }
}

/** 3D objects; what is downloaded is the GLB. */
export class Models3d extends NativeTasks<Model3dRequest> {
  constructor(caller: Caller) {
    super(caller, (body, options) => caller.call('createModel3d', { ...options, body }));
  }
}

const endMessages: Readonly<Record<string, string>> = {
  FAILED: 'The task has failed.',
  CANCELED: 'The task was canceled.',
  UNKNOWN: 'There is no such task, or it is older than a day.',
};

function nativeState({ output }: NativeTask): TaskState {
  const status = output.task_status;
  const ending = endMessages[status];
  if (ending === undefined) return { status };
  const { code, message } = { code: status, message: ending, ...output };
  return { status, failure: { code, message } };
}

function nativeUrl({ output }: NativeTask): string | undefined {
  if (output.task_status !== 'SUCCEEDED') return undefined;
  return output.video_url ?? output.results?.pbr_model_url ?? output.results?.base_model_url;
}
