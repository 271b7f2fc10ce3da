import { type TaskRecord, taskColumns, taskRecord } from '../queries/tasks.ts';
import type { Command } from './command.ts';
import { open } from './tasks.ts';

export interface TaskInput {
  id: string;
  /** JSON object; null keeps what there is. */
  facts: string | null;
  /** Null keeps what there is. */
  callbackUrl: string | null;
}

/** Keeps what the owner of a task adds to it before the upstream hears of it. False when the task is final. */
export const addTaskInput: Command<TaskInput, boolean> = async (trx, { id, facts, callbackUrl }) => {
  const { numUpdatedRows } = await trx
    .updateTable('tasks')
    .set((eb) => ({
      facts: facts ?? eb.ref('facts'),
      callback_url: callbackUrl ?? eb.ref('callback_url'),
    }))
    .where('id', '=', id)
    .where('state', 'in', open)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
};

export interface ResumedTask {
  id: string;
  upstreamId: string;
  /** JSON object. */
  result: string;
  nextPollAt: number;
  pollInterval: number;
  now: number;
}

/**
 * Notes that a task waits no more, and has it polled soon. What a poll has found out before that is not written any
 * more. Undefined when the task is final.
 */
export const resumeTask: Command<ResumedTask, TaskRecord | undefined> = async (trx, task) => {
  const row = await trx
    .updateTable('tasks')
    .set((eb) => ({
      upstream_id: task.upstreamId,
      result: task.result,
      updated_at: task.now,
      polled_at: null,
      next_poll_at: task.nextPollAt,
      poll_interval: task.pollInterval,
      failures: 0,
      lease_owner: null,
      attempt: eb('attempt', '+', 1),
    }))
    .where('id', '=', task.id)
    .where('state', 'in', open)
    .returning(taskColumns)
    .executeTakeFirst();
  return row === undefined ? undefined : taskRecord(row);
};
