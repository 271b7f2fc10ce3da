import type { Handler } from '../../http/handler.ts';
import { readTask } from './generic-read.ts';
import { renderOfficialTask } from './official-task.ts';

/** A task of `createOfficialTask`. */
export const getOfficialTask: Handler<'getOfficialTask'> = async (request, reply) => {
  reply.json(200, renderOfficialTask(await readTask(request, 'official')));
};
