import type { DeliveryRecord } from '../store/commands/deliveries.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';

/** The task as it was when it had just reached the state that a delivery tells. */
export function taskAsTold(task: TaskRecord, { state, changedAt }: DeliveryRecord): TaskRecord {
  if (state === 'completed' || state === 'failed') return task;
  return {
    ...task,
    state,
    progress: 0,
    result: null,
    error: null,
    startedAt: state === 'queued' ? null : changedAt,
    updatedAt: changedAt,
    completedAt: null,
    expiresAt: null,
  };
}

/** The same in every try, and of one delivery only. It holds nothing that the receiver does not know. */
export function messageId({ taskId, state }: DeliveryRecord): string {
  return `${taskId.replace(/^task_/, 'msg_')}_${state}`;
}
