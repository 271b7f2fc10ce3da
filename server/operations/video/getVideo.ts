import { renderVideoTask } from '../../formats/generic.ts';
import { linksFor } from '../../formats/links-for.ts';
import type { Handler } from '../../http/handler.ts';
import { readTask } from '../read-task.ts';

/** A task of `createVideo`, whatever its model, as the generic object. */
export const getVideo: Handler<'getVideo'> = async (request, reply) => {
  reply.json(200, renderVideoTask(await readTask(request, 'videos'), linksFor(request)));
};
