import type { Handler } from '../../http/handler.ts';
import { findTaskModel } from '../../models/task-model.ts';
import { gammaFromNative } from '../../providers/native/video-request.ts';
import { passRefusal } from '../pass-rejection.ts';
import { startTask } from '../start-task.ts';
import { submittedTask } from './native-task.ts';

/** A gamma video in the provider's own words; what the provider refuses comes back as it is. */
export const synthesizeVideo: Handler<'synthesizeVideo'> = async (request, reply) => {
  const { gateway, caller, body, requestId } = request;
  const model = findTaskModel(gateway, caller, body.model, ['native_video']);
  const plan = { model, format: 'native' as const, ...gammaFromNative(body) };
  try {
    const task = await startTask(request, 'synthesizeVideo', plan);
    reply.json(200, submittedTask(task, requestId));
  } catch (error) {
    passRefusal(error, reply);
  }
};
