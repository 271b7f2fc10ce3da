import { unknownTask } from '../../calls/read-task.ts';
import type { Handler } from '../../http/handler.ts';
import { viewerOf } from '../../keys/caller.ts';
import { Failure } from '../../lib/failure.ts';

/** Stops a task of the native video route or the 3D route that still waits. */
export const cancelNativeTask: Handler<'cancelNativeTask'> = async (request, reply) => {
  const { gateway, caller, path, requestId } = request;
  const id = path.task_id;
  const result = await gateway.tasks.cancel({ id, ...viewerOf(caller), format: 'native' });
  if (result === undefined) throw unknownTask(id);
  if (!result.canceled)
    throw new Failure(400, 'UnsupportedOperation', 'task_id: only a task that is PENDING can be canceled.');
  reply.json(200, { request_id: requestId });
};
