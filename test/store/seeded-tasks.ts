import type { TaskFormat, TaskState } from '../../server/store/schema.ts';

export const start = 1_800_000_000_000;
const pick = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

/** Tasks of all kinds, some created in the same millisecond. */
export const rows = Array.from({ length: 240 }, (_, index) => {
  const state = pick<TaskState>(['completed', 'queued', 'failed', 'in_progress'], index);
  const open = state === 'queued' || state === 'in_progress';
  return {
    id: `task_${String((index * 7) % 240).padStart(3, '0')}`,
    request_id: `req_${index}`,
    user_id: pick([1, 2, 3], index >> 2),
    token_id: pick([10, 20, 30, 40], index >> 1),
    operation: 'createVideo',
    format: pick<TaskFormat>(['videos', 'native', 'music'], index >> 3),
    driver: pick(['native_video', 'sigma'], index),
    model: pick(['a model', "an 'odd%_' model"], index >> 4),
    unit: 'seconds',
    channel: pick(['one', 'two', 'three'], index),
    upstream_id: index % 5 === 0 ? null : `up-${index}`,
    state,
    progress: 0,
    facts: '{"prompt":"a secret"}',
    result: null,
    error_code: state === 'failed' ? pick(['task_lost', 'task_expired'], index >> 2) : null,
    error_message: state === 'failed' ? 'No.' : null,
    expected_units: 5,
    unit_price: 1,
    group_ratio: 1,
    group_name: 'default',
    config_revision: 'revision',
    created_at: start + Math.floor(index / 3) * 1_000,
    updated_at: start,
    completed_at: open ? null : start,
    deadline_at: start,
    next_poll_at: open ? start : null,
    poll_interval: 1_000,
    failures: 0,
    attempt: 1,
  };
});

export const newestFirst = rows.toSorted(
  (left, right) => right.created_at - left.created_at || (left.id < right.id ? 1 : -1),
);
