import type { Handler } from '../../http/handler.ts';
import { readPage } from '../../http/read-page.ts';
import { runReport } from '../../http/run-report.ts';
import { viewerOf } from '../../keys/caller.ts';
import { unixTime } from '../../providers/video-task.ts';
import { success } from '../success.ts';

/** Lists the callbacks of the tasks that the caller sees, newest first. */
export const listCallbacks: Handler<'listCallbacks'> = async (request, reply) => {
  const { gateway, caller, query } = request;
  const { callbacks, total } = await runReport(request, 'searchCallbacks', {
    ...viewerOf(caller),
    changedFrom: query.start === undefined ? undefined : query.start * 1_000,
    ...readPage(query),
  });
  const items = callbacks.flatMap(({ task, ...delivery }) => {
    const message = gateway.callbackDeliveries.message(task, delivery);
    if (message === undefined || task.callbackUrl === null) return [];
    return {
      id: message.headers['webhook-id'],
      task_id: task.id,
      url: task.callbackUrl,
      event: delivery.state,
      state: delivery.outcome ?? ('open' as const),
      tries: delivery.tries,
      last_status: delivery.lastStatus,
      last_error: delivery.lastError,
      created_at: unixTime(delivery.changedAt),
      ...message,
    };
  });
  reply.json(200, success({ items, total }));
};
