import type { components } from '../../../generated/http.ts';
import type { Handler } from '../../http/handler.ts';
import { viewerOf } from '../../keys/caller.ts';
import { linksFor } from '../../providers/client-links.ts';
import { renderOfficialTask } from '../../providers/official/render-task.ts';
import type { TaskFilter } from '../../store/queries/tasks.ts';
import { taskCanceled, taskExpired } from '../../tasks/driver.ts';

/** Time after its creation for which a task is listed: 7 days. */
const listedMs = 7 * 24 * 60 * 60_000;
const defaultSize = 20;

type Status = components['schemas']['OfficialTask']['status'];

/** Returns a page of the caller's tasks of `createOfficialVideo`. */
export const listOfficialVideos: Handler<'listOfficialVideos'> = async (request, reply) => {
  const { gateway, caller, query } = request;
  const number = query.page_num ?? 1;
  const limit = query.page_size ?? defaultSize;
  const ids = query['filter.task_ids'];
  const model = query['filter.model'];
  const status = query['filter.status'];
  const tier = query['filter.service_tier'];
  const { tasks, total } = await gateway.tasks.page({
    ...viewerOf(caller),
    format: 'official',
    createdFrom: gateway.clock() - listedMs,
    ...(ids !== undefined && { ids: [ids].flat() }),
    ...(model !== undefined && { models: [model] }),
    ...(status !== undefined && statusFilters[status]),
    ...(tier !== undefined && { serviceTier: tier }),
    offset: (number - 1) * limit,
    limit,
  });
  const links = linksFor(request);
  reply.json(200, { items: tasks.map((task) => renderOfficialTask(task, links)), total });
};

/** Filters that match the tasks of each `officialStatus`. */
const statusFilters: Readonly<Record<Status, Partial<TaskFilter>>> = {
  queued: { states: ['queued'] },
  running: { states: ['in_progress'] },
  succeeded: { states: ['completed'] },
  failed: { states: ['failed'], exceptErrorCodes: [taskExpired.code, taskCanceled.code] },
  expired: { states: ['failed'], errorCodes: [taskExpired.code] },
  cancelled: { states: ['failed'], errorCodes: [taskCanceled.code] },
};
