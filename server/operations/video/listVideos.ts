import type { Handler } from '../../http/handler.ts';
import { viewerOf } from '../../keys/caller.ts';
import { invalid } from '../../lib/failure.ts';
import { quoted } from '../../models/catalogue.ts';
import { linksFor } from '../../providers/client-links.ts';
import { renderVideoTask } from '../../providers/video-task.ts';

const defaultLimit = 20;

/** Returns a page of the caller's tasks of `createVideo`. */
export const listVideos: Handler<'listVideos'> = async (request, reply) => {
  const { gateway, caller, query } = request;
  const { after, order, limit = defaultLimit } = query;
  const page = await gateway.tasks.list({
    ...viewerOf(caller),
    format: 'videos',
    limit,
    ...(after !== undefined && { after }),
    ...(order !== undefined && { order }),
  });
  if (page === undefined) throw invalid('after', `there is no task ${quoted(after ?? '')} here.`);
  const links = linksFor(request);
  const data = page.tasks.map((task) => renderVideoTask(task, links));
  reply.json(200, {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: page.hasMore,
  });
};
