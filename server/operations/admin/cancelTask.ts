import type { Handler } from '../../http/handler.ts';
import { invalid } from '../../lib/failure.ts';
import { success } from '../success.ts';
import { changeBy } from './admin-change.ts';
import { readTaskView, unknownTask } from './task-view.ts';

/** Cancels a waiting task of any user. */
export const cancelTask: Handler<'cancelTask'> = async (request, reply) => {
  const { gateway, path } = request;
  const { id } = path;
  const change = { ...changeBy(request, 'cancelTask'), subject: `task ${id}`, details: {} };
  const result = await gateway.tasks.cancelAny(id, change);
  if (result === undefined) throw unknownTask(id);
  const { canceled, task } = result;
  if (!canceled && task.completedAt !== null) throw invalid('id', `the task has ended as ${task.state}.`);
  if (!canceled)
    throw invalid(
      'id',
      'the task is running, or its provider cannot cancel it; settleTask ends it manually.',
    );
  reply.json(200, success(await readTaskView(gateway, id)));
};
