import type { Handler } from '../../http/handler.ts';
import { viewerOf } from '../../keys/caller.ts';
import { linksFor } from '../../providers/client-links.ts';
import { renderNativeTask } from '../../providers/native/render-task.ts';

/** Time after its end for which a task is shown. */
const shownMs = 24 * 60 * 60 * 1000;

/** Returns a task of the native video or 3D route. Other and old tasks have the status UNKNOWN. */
export const getNativeTask: Handler<'getNativeTask'> = async (request, reply) => {
  const { gateway, caller, path, requestId } = request;
  const id = path.task_id;
  const task = await gateway.tasks.read({ id, ...viewerOf(caller), format: 'native' });
  const isKnown = task !== undefined && (task.completedAt ?? gateway.clock()) + shownMs >= gateway.clock();
  reply.json(
    200,
    isKnown
      ? renderNativeTask(task, requestId, linksFor(request))
      : { request_id: requestId, output: { task_id: id, task_status: 'UNKNOWN' } },
  );
};
