import type { Handler, RequestBody } from '../../http/handler.ts';
import { invalid } from '../../lib/failure.ts';
import { manualResult } from '../../providers/manual-completion.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';
import type { ManualEnd } from '../../tasks/transitions.ts';
import { success } from '../success.ts';
import { changeBy } from './admin-change.ts';
import { readTaskView, unknownTask } from './task-view.ts';

/** Ends a task of any user manually, with its charge, log entry and callback. */
export const settleTask: Handler<'settleTask'> = async (request, reply) => {
  const { gateway, path, body } = request;
  const { id } = path;
  const { reason, outcome } = body;
  const result = await gateway.tasks.endManually(id, (task) => {
    const end = body.outcome === 'failed' ? { message: body.message } : { units: body.units };
    const details = { reason, from: task.state, outcome, ...end };
    return {
      end: endOf(task, body),
      change: { ...changeBy(request, 'settleTask'), subject: `task ${id}`, details },
    };
  });
  if (result === undefined) throw unknownTask(id);
  if (!result.ended) throw invalid('id', `the task has ended as ${result.task.state}.`);
  reply.json(200, success(await readTaskView(gateway, id)));
};

const unknownEnd = 'The provider does not report the end of the task.';

/** @throws Failure 400 for an end that the task cannot have */
function endOf(task: TaskRecord, body: RequestBody<'settleTask'>): ManualEnd {
  if (body.outcome === 'failed')
    return { outcome: 'failed', error: { code: 'task_lost', message: body.message ?? unknownEnd } };
  const { units, url } = body;
  if (task.upstreamId === null)
    throw invalid('outcome', 'no provider is known to have the task, so it can only be failed.');
  if (units > task.expectedUnits)
    throw invalid('units', `must be at most ${task.expectedUnits}, which is reserved for the task.`);
  return { outcome: 'completed', units, result: manualResult(task, url) };
}
