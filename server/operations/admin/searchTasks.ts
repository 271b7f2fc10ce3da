import type { Handler } from '../../http/handler.ts';
import { readPage } from '../../http/read-page.ts';
import { runReport } from '../../http/run-report.ts';
import { viewTask } from './task-view.ts';

/** Tasks of all users, the newest first. */
export const searchTasks: Handler<'searchTasks'> = async (request, reply) => {
  const { query } = request;
  const { since, until, upstream } = query;
  const { tasks, total } = await runReport(request, 'searchTasks', {
    id: query.id,
    userId: query.user_id,
    tokenId: query.token_id,
    state: query.state,
    model: query.model,
    channel: query.channel,
    format: query.format,
    driver: query.driver,
    errorCode: query.error_code,
    upstream: upstream && upstream === 'known',
    createdFrom: since === undefined ? undefined : since * 1000,
    createdBefore: until === undefined ? undefined : until * 1000,
    ...readPage(query),
  });
  reply.json(200, { success: true, message: '', data: { items: tasks.map(viewTask), total } });
};
