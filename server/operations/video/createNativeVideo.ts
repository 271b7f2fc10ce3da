import { submittedTask } from '../../formats/native.ts';
import { passRefusal } from '../../formats/rejection.ts';
import type { Handler } from '../../http/handler.ts';
import { gammaFromNative } from '../../providers/native/video-request.ts';
import { findTaskModel } from '../../tasks/task-model.ts';
import { startTask } from '../start-task.ts';

/** A gamma video in the provider's own words; what the provider refuses comes back as it is. */
export const createNativeVideo: Handler<'createNativeVideo'> = async (request, reply) => {
  const { gateway, caller, body, requestId } = request;
  const model = findTaskModel(gateway, caller, body.model, ['native_video']);
  const plan = { model, format: 'native' as const, ...gammaFromNative(body) };
  try {
    const task = await startTask(request, 'createNativeVideo', plan);
    reply.json(200, submittedTask(task, requestId));
  } catch (error) {
    passRefusal(error, reply);
  }
};
