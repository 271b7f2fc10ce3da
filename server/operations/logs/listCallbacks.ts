import type { components } from '../../../generated/http.ts';
import type { Handler } from '../../http/handler.ts';
import { readPage } from '../../http/read-page.ts';
import { runReport } from '../../http/run-report.ts';
import { viewerOf } from '../../keys/caller.ts';
import { unixTime } from '../../providers/video-task.ts';
import { success } from '../success.ts';

type CallbackView = components['schemas']['Callback'];

/** Lists the callbacks of the tasks and endpoints that the caller sees, newest first. */
export const listCallbacks: Handler<'listCallbacks'> = async (request, reply) => {
  const { gateway, caller, query } = request;
  const { callbacks, total } = await runReport(request, 'searchCallbacks', {
    ...viewerOf(caller),
    isOperator: caller.isAdmin,
    changedFrom: query.start === undefined ? undefined : query.start * 1_000,
    ...readPage(query),
  });
  const items = callbacks.flatMap((delivery): CallbackView[] => {
    const shared = {
      state: delivery.outcome ?? ('open' as const),
      tries: delivery.tries,
      last_status: delivery.lastStatus,
      last_error: delivery.lastError,
      created_at: unixTime(delivery.changedAt),
    };
    if ('event' in delivery) {
      const { kind, url, endpointId } = delivery.event;
      const message = gateway.callbackDeliveries.eventMessage(delivery.event);
      const id = message.headers['webhook-id'];
      return [{ id, task_id: null, endpoint_id: endpointId, url, event: kind, ...shared, ...message }];
    }
    const { task, state, changedAt } = delivery;
    const message = gateway.callbackDeliveries.message(task, { taskId: task.id, state, changedAt });
    if (message === undefined || task.callbackUrl === null) return [];
    const id = message.headers['webhook-id'];
    return [
      { id, task_id: task.id, endpoint_id: null, url: task.callbackUrl, event: state, ...shared, ...message },
    ];
  });
  reply.json(200, success({ items, total }));
};
