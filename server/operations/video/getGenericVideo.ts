import { renderFamilyRecord } from '../../formats/family-record.ts';
import { renderVideoTask } from '../../formats/generic.ts';
import { linksFor } from '../../formats/links-for.ts';
import type { Handler } from '../../http/handler.ts';
import { readTask } from '../read-task.ts';

/** A task of `createGenericVideo`: Seedance models show their family's record, all others the generic object. */
export const getGenericVideo: Handler<'getGenericVideo'> = async (request, reply) => {
  const task = await readTask(request, 'generic');
  const render = task.driver === 'official' ? renderFamilyRecord : renderVideoTask;
  reply.json(200, render(task, linksFor(request)));
};
