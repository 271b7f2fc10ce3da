import type { Handler } from '../../http/handler.ts';
import { runReport } from '../../http/run-report.ts';
import { viewerOf } from '../../keys/caller.ts';
import { linksFor } from '../../providers/client-links.ts';
import { renderOwnFormat } from '../../providers/own-format.ts';
import { appliedRuleOf } from '../../quota/charge-explanation.ts';
import type { PriceRule } from '../../settings/price-rules.ts';
import type { Charge } from '../../store/queries/charges.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';
import { placesOf, unixTimeOrNull, unknownTask } from '../admin/task-view.ts';
import { success } from '../success.ts';
import { viewMyTask, viewTaskCharge } from './my-task-view.ts';
import { storedRequest } from './stored-request.ts';
import { timelineOf } from './task-timeline.ts';

/** Returns a task that the caller sees with its timeline, request, response and charge. */
export const getMyTask: Handler<'getMyTask'> = async (request, reply) => {
  const { caller, path, requestId } = request;
  const { id } = path;
  const history = await runReport(request, 'readTaskHistory', { id, viewer: viewerOf(caller) });
  if (history === undefined) throw unknownTask(id);
  const { task, shown, charge } = history;
  const places = await placesOf(request.gateway, [shown]);
  const details = {
    ...viewMyTask(shown, places),
    unit_price: task.unitPrice,
    price_rule: ruleOf(task, charge),
    group_ratio: task.groupRatio,
    expires_at: unixTimeOrNull(task.expiresAt),
    timeline: timelineOf(history),
    request: storedRequest(task),
    response: renderOwnFormat({ ...task, queue: places.get(id) }, requestId, linksFor(request)),
    charge: charge === undefined ? null : viewTaskCharge(charge),
  };
  reply.json(200, success(details));
};

/** Returns the rule that was charged. Before the end, the one of the reservation. */
function ruleOf({ pricing }: TaskRecord, charge: Charge | undefined): PriceRule | null {
  const rule = (charge && appliedRuleOf(charge)) ?? pricing?.rule ?? null;
  if (rule === null) return null;
  const { when, per, minimum } = rule;
  return {
    ...(when !== undefined && { when }),
    ...(per !== undefined && { per }),
    ...(minimum !== undefined && { minimum }),
  };
}
