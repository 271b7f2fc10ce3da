import { readTask } from '../../calls/read-task.ts';
import type { Handler } from '../../http/handler.ts';
import { linksFor } from '../../providers/client-links.ts';
import { renderVideoTask } from '../../providers/video-task.ts';

/** Returns a task of `createVideo` as the generic object. */
export const getVideo: Handler<'getVideo'> = async (request, reply) => {
  reply.json(200, renderVideoTask(await readTask(request, 'videos'), linksFor(request)));
};
