import { unknownTask } from '../../calls/read-task.ts';
import type { Handler } from '../../http/handler.ts';
import { viewerOf } from '../../keys/caller.ts';
import { invalid } from '../../lib/failure.ts';

/** Deletes a task of `createVideo` that has ended. Its charge remains. */
export const deleteVideo: Handler<'deleteVideo'> = async ({ gateway, caller, path }, reply) => {
  const id = path.task_id;
  const outcome = await gateway.tasks.remove({ id, ...viewerOf(caller), format: 'videos' });
  if (outcome === 'not_found') throw unknownTask(id);
  if (outcome === 'not_final')
    throw invalid('task_id', 'the task has not ended; delete it afterwards.', 'task_not_completed');
  reply.json(200, { id, object: 'video.deleted', deleted: true });
};
