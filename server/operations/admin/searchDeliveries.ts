import type { Handler } from '../../http/handler.ts';
import { readPage } from '../../http/read-page.ts';
import { runReport } from '../../http/run-report.ts';
import { success } from '../success.ts';
import { viewDelivery } from './delivery-view.ts';

/** Searches callbacks of all users, newest first. */
export const searchDeliveries: Handler<'searchDeliveries'> = async (request, reply) => {
  const { query } = request;
  const { deliveries, total } = await runReport(request, 'searchDeliveries', {
    state: query.state,
    taskId: query.task_id,
    host: query.host?.toLowerCase(),
    userId: query.user_id,
    ...readPage(query),
  });
  reply.json(200, success({ items: deliveries.map(viewDelivery), total }));
};
