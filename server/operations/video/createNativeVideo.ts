import { startTask } from '../../calls/start-task.ts';
import type { Handler } from '../../http/handler.ts';
import { forwardTaskRejection } from '../../providers/native/forward-rejection.ts';
import { submittedTask } from '../../providers/native/render-task.ts';
import { gammaFromNative } from '../../providers/native/video-request.ts';
import { findTaskModel } from '../../tasks/task-model.ts';

/** Creates a gamma video from the provider's own format. Rejections of the provider are returned unchanged. */
export const createNativeVideo: Handler<'createNativeVideo'> = async (request, reply) => {
  const { gateway, caller, body, requestId } = request;
  const model = findTaskModel(gateway, caller, body.model, ['native_video']);
  const plan = { model, format: 'native' as const, ...gammaFromNative(body) };
  try {
    const task = await startTask(request, 'createNativeVideo', plan);
    reply.json(200, submittedTask(task, requestId));
  } catch (error) {
    forwardTaskRejection(error, reply);
  }
};
