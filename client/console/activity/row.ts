import type { AdminTask, LogItem, MyTask } from '../../index.ts';

/** A call or task in the table. */
export interface Row {
  /** Unique in the table. */
  key: string;
  state: 'queued' | 'in_progress' | 'completed' | 'failed' | 'canceled';
  model: string;
  keyName: string;
  /** Id of the key of a task. */
  tokenId: number | undefined;
  requestId: string;
  /** Undefined for a call without a task. */
  taskId: string | undefined;
  /** Progress in percent of a task that has not ended. */
  progress: number | undefined;
  /** Position in the queue of a task that waits for a channel. */
  position: number | undefined;
  /** Charged quota. Undefined before the end. */
  quota: number | undefined;
  /** Time of the start. Unix time in milliseconds. */
  startedAt: number;
  /** Undefined before the end. */
  durationMs: number | undefined;
}

export const rowOfEntry = (entry: LogItem): Row => ({
  key: entry.task_id ?? `entry-${entry.id}`,
  state: entry.state ?? 'completed',
  model: entry.model_name,
  keyName: entry.token_name,
  tokenId: undefined,
  requestId: entry.request_id,
  taskId: entry.task_id ?? undefined,
  progress: undefined,
  position: undefined,
  quota: entry.quota,
  startedAt: entry.created_at * 1_000 - (entry.duration_ms ?? 0),
  durationMs: entry.duration_ms,
});

export const rowOfTask = (task: MyTask | AdminTask): Row => ({
  key: task.id,
  state: task.error?.code === 'task_canceled' ? 'canceled' : task.state,
  model: task.model,
  keyName: task.token_name ?? '',
  tokenId: task.token_id,
  requestId: task.request_id,
  taskId: task.id,
  progress: task.state === 'in_progress' || task.state === 'queued' ? task.progress : undefined,
  position: task.queue?.position,
  quota: task.charged ?? undefined,
  startedAt: task.created_at * 1_000,
  durationMs: task.completed_at === null ? undefined : (task.completed_at - task.created_at) * 1_000,
});
