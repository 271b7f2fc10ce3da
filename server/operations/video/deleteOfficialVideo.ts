import { readTask, unknownTask } from '../../calls/read-task.ts';
import type { Handler } from '../../http/handler.ts';
import { viewerOf } from '../../keys/caller.ts';
import { invalid } from '../../lib/failure.ts';
import { officialStatus } from '../../providers/official/render-task.ts';

/** Cancels a queued task of `createOfficialVideo`, or deletes one that has ended. Its charge remains. */
export const deleteOfficialVideo: Handler<'deleteOfficialVideo'> = async (request, reply) => {
  const { gateway, caller } = request;
  let task = await readTask(request, 'official');
  const name = { id: task.id, ...viewerOf(caller), format: 'official' as const };
  if (task.state === 'queued') {
    const result = await gateway.tasks.cancel(name);
    if (result === undefined) throw unknownTask(task.id);
    if (result.canceled) {
      reply.empty(204);
      return;
    }
    // The task continued in the meantime.
    task = result.task;
  }
  if (officialStatus(task) === 'cancelled') throw invalid('task_id', 'the task is canceled already.');
  if ((await gateway.tasks.remove(name)) === 'not_final')
    throw invalid('task_id', 'the task is running; delete it when it has ended.', 'task_not_completed');
  reply.empty(204);
};
