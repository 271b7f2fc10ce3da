import type { components } from '../../../generated/http.ts';
import type { Gateway } from '../../http/gateway.ts';
import { type Failure, notFound } from '../../lib/failure.ts';
import { quoted } from '../../models/catalogue.ts';
import { queueOf, unixTime } from '../../providers/video-task.ts';
import { type FoundTask, findShownTask } from '../../store/queries/task-search.ts';

/** Places of waiting tasks by their ids. */
export type QueuePlaces = Awaited<ReturnType<Gateway['tasks']['queuePlaces']>>;

/** Finds the places of those tasks that wait. */
export function placesOf(
  { tasks }: Gateway,
  found: readonly { id: string; state: string }[],
): Promise<QueuePlaces> {
  return tasks.queuePlaces(found.filter(({ state }) => state === 'queued').map(({ id }) => id));
}

type Schemas = components['schemas'];

/** Renders a task for admins, without its request and with the host of its callback address only. */
export function viewTask(task: FoundTask, places: QueuePlaces): Schemas['AdminTask'] {
  const { error_code: code, error_message: message, callback_url, delivery, attempt: _, ...fields } = task;
  return {
    ...fields,
    ...queueOf({ queue: places.get(task.id) }),
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
export async function readTaskView(gateway: Gateway, id: string): Promise<Schemas['AdminTask']> {
  const task = await findShownTask(gateway.store.read, id);
  if (task === undefined) throw unknownTask(id);
  return viewTask(task, await placesOf(gateway, [task]));
}

export const unknownTask = (id: string): Failure => notFound('id', `there is no task ${quoted(id)} here.`);

export const unixTimeOrNull = (ms: number | null): number | null => (ms === null ? null : unixTime(ms));
