import type { OperationRequest } from '../http/handler.ts';
import { viewerOf } from '../keys/caller.ts';
import { Failure } from '../lib/failure.ts';
import { quoted } from '../models/catalogue.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';

type TaskRequest = OperationRequest<
  | 'getVideo'
  | 'getGenericVideo'
  | 'downloadVideoContent'
  | 'getOfficialVideo'
  | 'deleteOfficialVideo'
  | 'fetchMusicTask'
  | 'getMusic'
>;

/**
 * Reads the caller's task in one of the formats.
 *
 * @throws Failure 404 for every other id, which does not reveal other users' tasks
 */
export async function readTask(
  { gateway, caller, path }: TaskRequest,
  ...formats: ('generic' | 'videos' | 'official' | 'music')[]
): Promise<TaskRecord> {
  for (const format of formats) {
    const task = await gateway.tasks.read({ id: path.task_id, ...viewerOf(caller), format });
    if (task !== undefined) return task;
  }
  throw unknownTask(path.task_id);
}

export function unknownTask(id: string): Failure {
  return new Failure(404, 'resource_not_found', `task_id: there is no task ${quoted(id)} here.`);
}
