import { readTask } from '../../calls/read-task.ts';
import type { Handler } from '../../http/handler.ts';
import { linksFor } from '../../providers/client-links.ts';
import { renderOfficialTask } from '../../providers/official/render-task.ts';

/** Returns a task of `createOfficialVideo`. */
export const getOfficialVideo: Handler<'getOfficialVideo'> = async (request, reply) => {
  reply.json(200, renderOfficialTask(await readTask(request, 'official'), linksFor(request)));
};
