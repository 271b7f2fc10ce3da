import type { Handler } from '../../http/handler.ts';
import { viewDelivery } from '../delivery-view.ts';
import { readPage } from '../read-page.ts';
import { runReport } from '../run-report.ts';

/** Callbacks of all users, the newest first. */
export const searchDeliveries: Handler<'searchDeliveries'> = async (request, reply) => {
  const { query } = request;
  const { deliveries, total } = await runReport(request, 'searchDeliveries', {
    state: query.state,
    taskId: query.task_id,
    host: query.host?.toLowerCase(),
    userId: query.user_id,
    ...readPage(query),
  });
  reply.json(200, { success: true, message: '', data: { items: deliveries.map(viewDelivery), total } });
};
