import { unknownTask } from '../../calls/read-task.ts';
import type { Handler } from '../../http/handler.ts';
import { viewerOf } from '../../keys/caller.ts';
import { invalid } from '../../lib/failure.ts';

/** Cancels a waiting task of the native video or 3D route. */
export const cancelNativeTask: Handler<'cancelNativeTask'> = async (request, reply) => {
  const { gateway, caller, path, requestId } = request;
  const id = path.task_id;
  const result = await gateway.tasks.cancel({ id, ...viewerOf(caller), format: 'native' });
  if (result === undefined) throw unknownTask(id);
  if (!result.canceled)
    throw invalid('task_id', 'only a task that is PENDING can be canceled.', 'UnsupportedOperation');
  reply.json(200, { request_id: requestId });
};
