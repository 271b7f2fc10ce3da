import type { Handler } from '../../http/handler.ts';
import { runReport } from '../../http/run-report.ts';
import { timelineOf } from '../me/task-timeline.ts';
import { success } from '../success.ts';
import { placesOf, unknownTask, viewTask } from './task-view.ts';

/** Returns a task of any user with its timeline. */
export const getTask: Handler<'getTask'> = async (request, reply) => {
  const { id } = request.path;
  const history = await runReport(request, 'readTaskHistory', { id });
  if (history === undefined) throw unknownTask(id);
  const { refunded: _, ...shown } = history.shown;
  const places = await placesOf(request.gateway, [shown]);
  reply.json(200, success({ ...viewTask(shown, places), timeline: timelineOf(history) }));
};
