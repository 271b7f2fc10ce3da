import { readTask } from '../../calls/read-task.ts';
import type { Handler } from '../../http/handler.ts';
import { linksFor } from '../../providers/client-links.ts';
import { renderFamilyRecord } from '../../providers/official/family-record.ts';
import { renderVideoTask } from '../../providers/video-task.ts';

/** Returns a task of `createGenericVideo`: Seedance models as their family's record, others as the generic object. */
export const getGenericVideo: Handler<'getGenericVideo'> = async (request, reply) => {
  const task = await readTask(request, 'generic');
  const render = task.driver === 'official' ? renderFamilyRecord : renderVideoTask;
  reply.json(200, render(task, linksFor(request)));
};
