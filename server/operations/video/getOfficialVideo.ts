import { linksFor } from '../../formats/links-for.ts';
import { renderOfficialTask } from '../../formats/official.ts';
import type { Handler } from '../../http/handler.ts';
import { readTask } from '../read-task.ts';

/** A task of `createOfficialVideo`. */
export const getOfficialVideo: Handler<'getOfficialVideo'> = async (request, reply) => {
  reply.json(200, renderOfficialTask(await readTask(request, 'official'), linksFor(request)));
};
