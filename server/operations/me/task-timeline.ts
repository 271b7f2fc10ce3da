import type { components } from '../../../generated/http.ts';
import type { FoundDelivery } from '../../store/queries/delivery-search.ts';
import type { TaskHistory } from '../../store/queries/task-history.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';
import { taskCanceled } from '../../tasks/driver.ts';

type TaskEvent = components['schemas']['TaskEvent'];

/** Renders the events of a task whose time the store has, oldest first. */
export function timelineOf({ task, deliveries }: Pick<TaskHistory, 'task' | 'deliveries'>): TaskEvent[] {
  const { createdAt, startedAt, completedAt, askedAt, polledAt, upstreamId } = task;
  // Submissions and polls have times of another clock, which can be slightly behind that of the creation.
  const sinceCreation = (time: number | null) => (time === null ? null : Math.max(time, createdAt));
  const times: readonly (readonly [TaskEvent['event'], number | null])[] = [
    ['submitted', sinceCreation(askedAt)],
    ['started', startedAt],
    ['polled', upstreamId === null ? null : sinceCreation(polledAt)],
    [endOf(task), completedAt],
  ];
  const events = times.flatMap(([event, time]) => (time === null ? [] : [{ event, at: seconds(time) }]));
  const callbacks = deliveries.flatMap((delivery) => callbackEvent(delivery, createdAt));
  const later = [...events, ...callbacks].toSorted((left, right) => left.at - right.at);
  return [{ event: 'created', at: seconds(createdAt) }, ...later];
}

function endOf({ state, error }: TaskRecord): 'completed' | 'failed' | 'canceled' {
  if (state === 'completed') return 'completed';
  return error?.code === taskCanceled.code ? 'canceled' : 'failed';
}

function callbackEvent(delivery: FoundDelivery, createdAt: number): TaskEvent[] {
  const { changed_at, last_try_at, last_status, last_error, outcome, state, tries } = delivery;
  if (state === null) return [];
  const callback = {
    reports: state,
    state: outcome ?? ('open' as const),
    failed_tries: tries,
    last_status,
    last_error,
  };
  return [{ event: 'callback', at: seconds(Math.max(last_try_at ?? changed_at, createdAt)), callback }];
}

/** Converts epoch milliseconds to seconds with a fraction. */
const seconds = (ms: number) => ms / 1000;
