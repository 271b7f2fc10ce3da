import type { Handler } from '../../http/handler.ts';
import { readPage } from '../../http/read-page.ts';
import { runReport } from '../../http/run-report.ts';
import { viewerOf } from '../../keys/caller.ts';
import { invalid } from '../../lib/failure.ts';
import { quoted } from '../../models/catalogue.ts';
import { placesOf } from '../admin/task-view.ts';
import { success } from '../success.ts';
import { viewMyTask } from './my-task-view.ts';

/** Lists the tasks of all formats that the caller sees, newest first. */
export const listMyTasks: Handler<'listMyTasks'> = async (request, reply) => {
  const { caller, query } = request;
  const { after, state, model, format, since, until, page_size } = query;
  const { limit } = readPage({ page_size });
  const page = await runReport(request, 'listOwnTasks', {
    ...viewerOf(caller),
    after,
    limit,
    state,
    model,
    format,
    createdFrom: since === undefined ? undefined : since * 1000,
    createdBefore: until === undefined ? undefined : until * 1000,
  });
  if (page === undefined) throw invalid('after', `there is no task ${quoted(after ?? '')} here.`);
  const places = await placesOf(request.gateway, page.tasks);
  const items = page.tasks.map((task) => viewMyTask(task, places));
  reply.json(200, success({ items, last_id: items.at(-1)?.id ?? null, has_more: page.hasMore }));
};
