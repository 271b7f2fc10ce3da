import type { Handler, RequestBody } from '../../http/handler.ts';
import { invalid } from '../../lib/failure.ts';
import { manualResult } from '../../providers/manual-completion.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';
import type { ManualEnd } from '../../tasks/transitions.ts';
import { changeBy } from './admin-change.ts';
import { noTask, shownTask } from './task-view.ts';

/** Ends a task of any user by hand, with its books, its log entry and its callback. */
export const settleTask: Handler<'settleTask'> = async (request, reply) => {
  const { gateway, path, body } = request;
  const { id } = path;
  const { reason } = body;
  const result = await gateway.tasks.endManually(id, (task) => {
    const details = { reason, from: task.state, outcome: body.outcome, ...told(body) };
    return {
      end: endOf(task, body),
      change: { ...changeBy(request, 'settleTask'), subject: `task ${id}`, details },
    };
  });
  if (result === undefined) throw noTask(id);
  if (!result.ended) throw invalid('id', `the task has ended as ${result.task.state}.`);
  reply.json(200, { success: true, message: '', data: await shownTask(gateway, id) });
};

type Settlement = RequestBody<'settleTask'>;

const told = (body: Settlement) =>
  body.outcome === 'failed' ? { message: body.message } : { units: body.units };

const unknownEnd = 'The provider does not tell the end of the task.';

/** @throws Failure 400 when the task cannot be completed so */
function endOf(task: TaskRecord, body: Settlement): ManualEnd {
  if (body.outcome === 'failed')
    return { outcome: 'failed', error: { code: 'task_lost', message: body.message ?? unknownEnd } };
  const { units, url } = body;
  if (task.upstreamId === null)
    throw invalid('outcome', 'no provider is known to have the task, so it can only be failed.');
  if (units > task.expectedUnits)
    throw invalid('units', `must be at most ${task.expectedUnits}, which is reserved for the task.`);
  return { outcome: 'completed', units, result: manualResult(task, url) };
}
