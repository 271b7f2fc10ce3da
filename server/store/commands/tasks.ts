import { fault } from '../fault-points.ts';
import { type TaskName, type TaskRecord, taskColumns, taskRecord } from '../queries/tasks.ts';
import { isSeen } from '../queries/visibility.ts';
import type { TaskState } from '../schema.ts';
import { type NewChange, recordChange } from './changes.ts';
import { addClips, type NewClip } from './clips.ts';
import type { Command } from './command.ts';
import { addDeliveries } from './deliveries.ts';
import { refund, type Settlement, settle } from './ledger.ts';

export const open = ['queued', 'in_progress'] as const satisfies readonly TaskState[];

export interface AskedChannel {
  id: string;
  attempt: number;
  channel: string;
  askedAt: number;
}

/** Notes which channel is about to be asked for a task. False when the claim is not the latest any more. */
export const markSubmitted: Command<AskedChannel, boolean> = async (
  trx,
  { id, attempt, channel, askedAt },
) => {
  const { numUpdatedRows } = await trx
    .updateTable('tasks')
    .set({ channel, asked_at: askedAt })
    .where('id', '=', id)
    .where('attempt', '=', attempt)
    .where('upstream_id', 'is', null)
    .where('state', 'in', open)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
};

export interface AcceptedTask {
  id: string;
  attempt: number;
  upstreamId: string;
  state: 'queued' | 'in_progress';
  progress: number;
  /** JSON object. */
  result: string | null;
  nextPollAt: number;
  now: number;
  /** By the clock of due times. */
  dueNow: number;
}

/** Notes the upstream's id and frees the task for polling. Undefined when the claim is not the latest any more. */
export const acceptTask: Command<AcceptedTask, TaskRecord | undefined> = async (trx, task) => {
  const row = await trx
    .updateTable('tasks')
    .set({
      upstream_id: task.upstreamId,
      state: task.state,
      progress: task.progress,
      result: task.result,
      started_at: task.state === 'in_progress' ? task.now : null,
      updated_at: task.now,
      polled_at: task.dueNow,
      next_poll_at: task.nextPollAt,
      failures: 0,
      lease_owner: null,
    })
    .where('id', '=', task.id)
    .where('attempt', '=', task.attempt)
    .where('upstream_id', 'is', null)
    .where('state', 'in', open)
    .returning(taskColumns)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const accepted = taskRecord(row);
  await addDeliveries(trx, [{ ...accepted, due: task.dueNow }]);
  return accepted;
};

export interface RefusedTask {
  id: string;
  attempt: number;
  channel: string;
  /** As the client sees it. */
  status: number;
  errorCode: string;
  now: number;
}

/**
 * Undoes a task whose making is refused to the client: the quota comes back, the log has it, and there is
 * no such task. False when the claim is not the latest any more.
 */
export const dropTask: Command<RefusedTask, boolean> = async (trx, { id, attempt, now, ...refusal }) => {
  const row = await trx
    .deleteFrom('tasks')
    .where('id', '=', id)
    .where('attempt', '=', attempt)
    .where('upstream_id', 'is', null)
    .where('state', 'in', open)
    .returning(taskColumns)
    .executeTakeFirst();
  if (row === undefined) return false;
  const { requestId, operation, createdAt, unitPrice, groupRatio, group, configRevision } = row;
  // Without a task id: the client never received one.
  const evidence = { unitPrice, groupRatio, group, configRevision, state: 'failed' as const };
  const log = { operation, ...refusal, units: 0, durationMs: Math.max(0, now - createdAt), evidence };
  await refund(trx, { requestId, log, now });
  return true;
};

export interface TaskEnd {
  id: string;
  /** The claim that found it out; null overrules whoever is at work on it. */
  attempt: number | null;
  /** Only while no upstream is known to have it. */
  onlyUnaccepted?: boolean;
  /** JSON object; null keeps the latest. */
  result: string | null;
  /** What it has made, if it makes clips. */
  clips?: readonly NewClip[] | undefined;
  /** Null: it is completed. */
  error: { code: string; message: string } | null;
  /** It failed because it was canceled before the provider began it. */
  isCanceled?: boolean;
  /** Its idempotency key stays taken although no upstream is known to have it: one may have. */
  keepKey?: boolean;
  /** What it used and costs; null gives the reservation back. */
  charge: { quota: number; units: number; inputTokens: number; outputTokens: number } | null;
  /** End of the result's life. */
  expiresAt: number;
  now: number;
  /** By the clock of due times. */
  dueNow: number;
  /** By whom, where it was an operator. */
  change?: NewChange | undefined;
}

/**
 * Ends a task and closes its books, both or neither, once. Undefined when it is final already or the claim is not
 * the latest any more. `booked` is undefined when the reservation was not open, which nothing should bring about.
 */
export const finishTask: Command<
  TaskEnd,
  { task: TaskRecord; booked: Settlement | undefined } | undefined
> = async (
  trx,
  {
    id,
    attempt,
    onlyUnaccepted = false,
    keepKey = false,
    result,
    clips,
    error,
    isCanceled = false,
    charge,
    expiresAt,
    now,
    dueNow,
    change,
  },
) => {
  const row = await trx
    .updateTable('tasks')
    .set((eb) => ({
      state: error === null ? 'completed' : 'failed',
      error_code: error?.code ?? null,
      error_message: error?.message ?? null,
      // A request that certainly came to nothing leaves its name for another try.
      idempotency_key: keepKey
        ? eb.ref('idempotency_key')
        : eb.case().when('upstream_id', 'is', null).then(null).else(eb.ref('idempotency_key')).end(),
      ...(error === null ? { progress: 100, started_at: eb.fn.coalesce('started_at', eb.val(now)) } : {}),
      ...(result === null ? {} : { result }),
      updated_at: now,
      completed_at: now,
      expires_at: expiresAt,
      next_poll_at: null,
      lease_owner: null,
    }))
    .where('id', '=', id)
    .where('state', 'in', open)
    .$if(attempt !== null, (query) => query.where('attempt', '=', attempt))
    .$if(onlyUnaccepted, (query) => query.where('upstream_id', 'is', null))
    .returning(taskColumns)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const task = taskRecord(row);
  await addClips(trx, [{ ...task, clips }]);
  await addDeliveries(trx, [{ ...task, due: dueNow }]);
  if (change !== undefined) await recordChange(trx, change);
  fault('settle:between');
  const { requestId, unitPrice, groupRatio, group, configRevision, upstreamId } = task;
  const state = isCanceled ? 'canceled' : task.state === 'completed' ? 'completed' : 'failed';
  const log = {
    operation: task.operation,
    channel: task.channel,
    status: 200,
    errorCode: error?.code ?? null,
    units: charge?.units ?? 0,
    promptTokens: charge?.inputTokens ?? 0,
    completionTokens: charge?.outputTokens ?? 0,
    durationMs: Math.max(0, now - task.createdAt),
    evidence: { unitPrice, groupRatio, group, configRevision, state, taskId: id, upstreamId } as const,
  };
  // Refunds charge nothing and leave no debt.
  const refunded = { charged: 0, debt: 0 };
  const booked =
    charge === null
      ? (await refund(trx, { requestId, log, now }))
        ? refunded
        : undefined
      : await settle(trx, { requestId, charged: charge.quota, log, now });
  return { task, booked };
};

export type RemoveResult = 'removed' | 'not_final' | 'not_found';

/** Forgets a final task. The books and the log stay. */
export const removeTask: Command<TaskName, RemoveResult> = async (trx, name) => {
  const { numDeletedRows } = await trx
    .deleteFrom('tasks')
    .where('id', '=', name.id)
    .where('user_id', '=', name.userId)
    .where('format', '=', name.format)
    .where(isSeen(name, 'tasks.token_id'))
    .where('state', 'not in', open)
    .executeTakeFirst();
  if (numDeletedRows > 0n) return 'removed';
  const row = await trx
    .selectFrom('tasks')
    .select('id')
    .where('id', '=', name.id)
    .where('user_id', '=', name.userId)
    .where('format', '=', name.format)
    .where(isSeen(name, 'tasks.token_id'))
    .executeTakeFirst();
  return row === undefined ? 'not_found' : 'not_final';
};

/** Forgets at the most `limit` tasks that became final at `finalBy` or before, and says how many. */
export const pruneTasks: Command<{ finalBy: number; limit: number }, number> = async (
  trx,
  { finalBy, limit },
) => {
  const { numDeletedRows } = await trx
    .deleteFrom('tasks')
    .where('id', 'in', (db) =>
      db.selectFrom('tasks').select('id').where('completed_at', '<=', finalBy).limit(limit),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
};
