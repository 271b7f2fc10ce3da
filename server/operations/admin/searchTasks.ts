import type { Handler } from '../../http/handler.ts';
import { readPage } from '../../http/read-page.ts';
import { runReport } from '../../http/run-report.ts';
import { success } from '../success.ts';
import { placesOf, viewTask } from './task-view.ts';

/** Searches tasks of all users, newest first. */
export const searchTasks: Handler<'searchTasks'> = async (request, reply) => {
  const { query } = request;
  const { id, state, model, channel, format, driver, since, until, upstream } = query;
  const { tasks, total } = await runReport(request, 'searchTasks', {
    id,
    state,
    model,
    channel,
    format,
    driver,
    userId: query.user_id,
    tokenId: query.token_id,
    errorCode: query.error_code,
    upstream: upstream && upstream === 'known',
    createdFrom: since === undefined ? undefined : since * 1000,
    createdBefore: until === undefined ? undefined : until * 1000,
    ...readPage(query),
  });
  const places = await placesOf(request.gateway, tasks);
  reply.json(200, success({ items: tasks.map((task) => viewTask(task, places)), total }));
};
