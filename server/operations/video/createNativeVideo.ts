import { startTask, type TaskPlan } from '../../calls/start-task.ts';
import type { Handler, OperationRequest } from '../../http/handler.ts';
import { forwardTaskRejection } from '../../providers/native/forward-rejection.ts';
import { submittedTask } from '../../providers/native/render-task.ts';
import { gammaFromNative } from '../../providers/native/video-request.ts';
import { findTaskModel } from '../../tasks/task-model.ts';

/** Creates a gamma video from the provider's own format. Rejections of the provider are returned unchanged. */
export const createNativeVideo: Handler<'createNativeVideo'> = async (request, reply) => {
  const plan = planNativeVideo(request);
  try {
    const task = await startTask(request, 'createNativeVideo', plan);
    reply.json(200, submittedTask(task, request.requestId));
  } catch (error) {
    forwardTaskRejection(error, reply);
  }
};

/** Translates a request. @throws Failure as `findTaskModel`, 400 that names the field */
export function planNativeVideo({ gateway, caller, body }: OperationRequest<'createNativeVideo'>): TaskPlan {
  const model = findTaskModel(gateway, caller, body.model, ['native_video']);
  return { model, format: 'native', ...gammaFromNative(body) };
}
