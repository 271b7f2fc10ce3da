import type { components } from '../../../generated/http.ts';
import type { Gateway } from '../../http/gateway.ts';
import { type Failure, notFound } from '../../lib/failure.ts';
import { quoted } from '../../models/catalogue.ts';
import { unixTime } from '../../providers/video-task.ts';
import { type FoundTask, findShownTask } from '../../store/queries/task-search.ts';

type Schemas = components['schemas'];

/** Renders a task for admins, without its request and with the host of its callback address only. */
export function viewTask({
  error_code: code,
  error_message: message,
  ...task
}: FoundTask): Schemas['AdminTask'] {
  const { callback_url: callback, delivery } = task;
  return {
    id: task.id,
    request_id: task.request_id,
    user_id: task.user_id,
    token_id: task.token_id,
    token_name: task.token_name,
    operation: task.operation,
    format: task.format,
    driver: task.driver,
    model: task.model,
    channel: task.channel,
    upstream_id: task.upstream_id,
    state: task.state,
    progress: task.progress,
    error: code === null ? null : { code, message: message ?? '' },
    unit: task.unit,
    expected_units: task.expected_units,
    reserved: task.reserved,
    charged: task.charged,
    callback: delivery,
    callback_host: callback === null ? null : (URL.parse(callback)?.host ?? null),
    created_at: unixTime(task.created_at),
    updated_at: unixTime(task.updated_at),
    started_at: unixTimeOrNull(task.started_at),
    completed_at: unixTimeOrNull(task.completed_at),
    deadline_at: unixTime(task.deadline_at),
    polled_at: unixTimeOrNull(task.polled_at),
    next_poll_at: unixTimeOrNull(task.next_poll_at),
    failures: task.failures,
    lease_owner: task.lease_owner,
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
