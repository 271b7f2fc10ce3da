import { readTask, unknownTask } from '../../calls/read-task.ts';
import type { Handler } from '../../http/handler.ts';
import { viewerOf } from '../../keys/caller.ts';
import { Failure, invalid } from '../../lib/failure.ts';
import { officialStatus } from '../../providers/official/render-task.ts';

/** Cancels a queued task of `createOfficialVideo`, or forgets one that has ended; what it cost stays in the books. */
export const deleteOfficialVideo: Handler<'deleteOfficialVideo'> = async (request, reply) => {
  const { gateway, caller } = request;
  let task = await readTask(request, 'official');
  const name = { id: task.id, ...viewerOf(caller), format: 'official' as const };
  if (task.state === 'queued') {
    const stopped = await gateway.tasks.cancel(name);
    if (stopped === undefined) throw unknownTask(task.id);
    if (stopped.canceled) {
      reply.empty(204);
      return;
    }
    // It went on in the meantime.
    task = stopped.task;
  }
  if (officialStatus(task) === 'cancelled') throw invalid('task_id', 'the task is cancelled already.');
  if ((await gateway.tasks.remove(name)) === 'not_final')
    throw new Failure(
      400,
      'task_not_completed',
      'task_id: the task is running; delete it when it has ended.',
    );
  reply.empty(204);
};
