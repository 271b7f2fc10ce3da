import type { Handler } from '../../http/handler.ts';
import { invalid } from '../../lib/failure.ts';
import { changeBy } from './admin-change.ts';
import { noTask, shownTask } from './task-view.ts';

/** Cancels a task of any user that still waits, as its owner can where its format has a call for that. */
export const cancelTask: Handler<'cancelTask'> = async (request, reply) => {
  const { gateway, path } = request;
  const { id } = path;
  const change = { ...changeBy(request, 'cancelTask'), subject: `task ${id}`, details: {} };
  const result = await gateway.tasks.cancelAny(id, change);
  if (result === undefined) throw noTask(id);
  const { canceled, task } = result;
  if (!canceled && task.completedAt !== null) throw invalid('id', `the task has ended as ${task.state}.`);
  if (!canceled) {
    const problem = 'the task is under way, or its provider cannot stop it; settleTask ends it by hand.';
    throw invalid('id', problem);
  }
  reply.json(200, { success: true, message: '', data: await shownTask(gateway, id) });
};
