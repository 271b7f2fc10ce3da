import type { Handler } from '../../http/handler.ts';
import { viewerOf } from '../../keys/caller.ts';
import { linksFor } from '../../providers/client-links.ts';
import { renderNativeTask } from '../../providers/native/render-task.ts';

/** So long after its end a task is known, in milliseconds. */
const knownMs = 24 * 60 * 60 * 1000;

/** A task of the native video route or the 3D route. Others, and old ones, are UNKNOWN to the native protocol. */
export const getNativeTask: Handler<'getNativeTask'> = async (request, reply) => {
  const { gateway, caller, path, requestId } = request;
  const id = path.task_id;
  const task = await gateway.tasks.read({ id, ...viewerOf(caller), format: 'native' });
  const known = task !== undefined && (task.completedAt ?? gateway.clock()) + knownMs >= gateway.clock();
  reply.json(
    200,
    known
      ? renderNativeTask(task, requestId, linksFor(request))
      : { request_id: requestId, output: { task_id: id, task_status: 'UNKNOWN' } },
  );
};
