import { renderFamilyRecord } from '../../formats/family-record.ts';
import { addressFor, renderVideoTask } from '../../formats/generic.ts';
import type { Handler } from '../../http/handler.ts';
import { readTask } from '../read-task.ts';

/** A task of `createGenericVideo`: Seedance models show their family's record, all others the generic object. */
export const getGenericVideo: Handler<'getGenericVideo'> = async (request, reply) => {
  const task = await readTask(request, 'generic');
  const seedance = task.driver === 'official';
  reply.json(200, seedance ? renderFamilyRecord(task) : renderVideoTask(task, addressFor(request)));
};
