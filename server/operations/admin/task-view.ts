import type { components } from '../../../generated/http.ts';
import type { Gateway } from '../../http/gateway.ts';
import { type Failure, notFound } from '../../lib/failure.ts';
import { quoted } from '../../models/catalogue.ts';
import { unixTime } from '../../providers/video-task.ts';
import { type FoundTask, findShownTask } from '../../store/queries/task-search.ts';

type Schemas = components['schemas'];

/** Renders a task for admins, without its request and with the host of its callback address only. */
export function viewTask(task: FoundTask): Schemas['AdminTask'] {
  const { error_code: code, error_message: message, callback_url, delivery, attempt: _, ...fields } = task;
  return {
    ...fields,
    error: code === null ? null : { code, message: message ?? '' },
    callback: delivery,
    callback_host: callback_url === null ? null : (URL.parse(callback_url)?.host ?? null),
    created_at: unixTime(task.created_at),
    updated_at: unixTime(task.updated_at),
    started_at: unixTimeOrNull(task.started_at),
    completed_at: unixTimeOrNull(task.completed_at),
    deadline_at: unixTime(task.deadline_at),
    polled_at: unixTimeOrNull(task.polled_at),
    next_poll_at: unixTimeOrNull(task.next_poll_at),
  };
}

/** Reads the current state of a task. @throws Failure 404 when it does not exist */
export async function readTaskView({ store }: Gateway, id: string): Promise<Schemas['AdminTask']> {
  const task = await findShownTask(store.read, id);
  if (task === undefined) throw unknownTask(id);
  return viewTask(task);
}

export const unknownTask = (id: string): Failure => notFound('id', `there is no task ${quoted(id)} here.`);

export const unixTimeOrNull = (ms: number | null): number | null => (ms === null ? null : unixTime(ms));
