import { type SqlBool, sql } from 'kysely';
import type { AppliedRule } from '../../settings/price-rules.ts';
import { type CamelCased, snakeCased } from '../columns.ts';
import { fault } from '../fault-points.ts';
import { type TaskName, type TaskRecord, taskColumns, taskRecord } from '../queries/tasks.ts';
import { isSeen } from '../queries/visibility.ts';
import type { Db, TaskState, TasksTable } from '../schema.ts';
import { affectsRow, countAffected } from '../statement.ts';
import { type NewChange, recordChange } from './changes.ts';
import { addClips, type NewClip } from './clips.ts';
import { addDeliveries } from './deliveries.ts';
import { refund, type Settlement, settle } from './ledger.ts';
import { dequeue } from './task-queue.ts';

const open = ['queued', 'in_progress'] as const satisfies readonly TaskState[];

/** Condition that a task is open, without a provider, and claimed with this attempt number. */
const isUnaccepted = (attempt: number) => sql<SqlBool>`(
  attempt = ${attempt} and upstream_id is null and state in ('queued', 'in_progress'))`;

/** Records to which channel a task is about to be submitted. False when the claim is not the latest. */
export function markSubmitted(
  trx: Db,
  { id, attempt, channel, askedAt }: { id: string; attempt: number; channel: string; askedAt: number },
): Promise<boolean> {
  const update = sql`
    update tasks set channel = ${channel}, asked_at = ${askedAt} where id = ${id} and ${isUnaccepted(attempt)}`;
  return affectsRow(trx, update);
}

interface AcceptedTask extends Pick<CamelCased<TasksTable>, 'id' | 'attempt' | 'progress' | 'result'> {
  upstreamId: string;
  state: 'queued' | 'in_progress';
  nextPollAt: number;
  now: number;
  /** By the clock of due times. */
  dueNow: number;
  /** It waited in the queue, which still has its request. */
  wasQueued?: boolean;
}

/** Records the provider's id and releases the task for polling. Undefined when the claim is not the latest. */
export async function acceptTask(
  trx: Db,
  { id, attempt, now, dueNow, wasQueued = false, ...task }: AcceptedTask,
): Promise<TaskRecord | undefined> {
  const row = await trx
    .updateTable('tasks')
    .set({
      ...snakeCased(task),
      started_at: task.state === 'in_progress' ? now : null,
      updated_at: now,
      polled_at: dueNow,
      failures: 0,
      lease_owner: null,
    })
    .where('id', '=', id)
    .where(isUnaccepted(attempt))
    .returning(taskColumns)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const accepted = taskRecord(row);
  if (wasQueued) await dequeue(trx, id);
  await addDeliveries(trx, [{ ...accepted, due: dueNow }]);
  return accepted;
}

interface RejectedTask {
  id: string;
  attempt: number;
  channel: string;
  /** HTTP status of the response to the client. */
  status: number;
  errorCode: string;
  now: number;
}

/** Deletes a task that the provider rejected, refunds it and logs the request. False when the claim is not the latest. */
export async function dropTask(trx: Db, { id, attempt, now, ...rejection }: RejectedTask): Promise<boolean> {
  const row = await trx
    .deleteFrom('tasks')
    .where('id', '=', id)
    .where(isUnaccepted(attempt))
    .returning(taskColumns)
    .executeTakeFirst();
  if (row === undefined) return false;
  const { requestId, operation, createdAt, ...price } = taskRecord(row);
  // Without a task id, since the client never received one.
  const evidence = { ...priceEvidence(price), state: 'failed' as const };
  const log = { operation, ...rejection, units: 0, durationMs: Math.max(0, now - createdAt), evidence };
  await refund(trx, { requestId, log, now });
  return true;
}

export interface TaskCharge {
  quota: number;
  units: number;
  inputTokens: number;
  outputTokens: number;
  /** Cost at the provider in quota units. Null or absent: unknown. */
  cost?: number | null;
  /** The price rule with the figures that it priced. Null: every unit has the same price. */
  appliedRule?: AppliedRule | null;
}

export interface TaskEnd {
  id: string;
  /** The claim that ends it; null: any. */
  attempt: number | null;
  /** Only if no provider is known to have it. */
  onlyUnaccepted?: boolean;
  /** JSON object; null: unchanged. */
  result: string | null;
  /** The clips of a music task. */
  clips?: readonly NewClip[] | undefined;
  /** Null: it has completed. */
  error: { code: string; message: string } | null;
  /** It was canceled before the provider began it. */
  isCanceled?: boolean;
  /** Keeps the idempotency key although no provider is known to have the task, since one may have it. */
  keepKey?: boolean;
  /** Cost and usage; null: the reservation is refunded. */
  charge: TaskCharge | null;
  /** When the result expires. */
  expiresAt: number;
  now: number;
  /** By the clock of due times. */
  dueNow: number;
  /** Recorded if an operator ends it. */
  change?: NewChange | undefined;
}

/** Ends a task and settles its reservation. Undefined when the claim is not the latest. `booked` undefined: it was not open, a bug. */
export async function finishTask(
  trx: Db,
  end: TaskEnd,
): Promise<{ task: TaskRecord; booked: Settlement | undefined } | undefined> {
  const { id, attempt, onlyUnaccepted = false, keepKey = false, isCanceled = false } = end;
  const { result, clips, error, charge, expiresAt, now, dueNow, change } = end;
  const row = await trx
    .updateTable('tasks')
    .set((eb) => ({
      state: error === null ? 'completed' : 'failed',
      error_code: error?.code ?? null,
      error_message: error?.message ?? null,
      // A request without effect releases its idempotency key, for another attempt, and answers no retry.
      ...(keepKey
        ? {}
        : {
            idempotency_key: eb
              .case()
              .when('upstream_id', 'is not', null)
              .then(eb.ref('idempotency_key'))
              .end(),
            retry_count: eb.case().when('upstream_id', 'is not', null).then(eb.ref('retry_count')).end(),
          }),
      ...(error === null ? { progress: 100, started_at: eb.fn.coalesce('started_at', eb.val(now)) } : {}),
      ...(result === null ? {} : { result }),
      updated_at: now,
      completed_at: now,
      expires_at: expiresAt,
      charged: charge?.quota ?? null,
      next_poll_at: null,
      queued_at: null,
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
  if (task.upstreamId === null) await dequeue(trx, id);
  await addClips(trx, [{ ...task, clips }]);
  await addDeliveries(trx, [{ ...task, due: dueNow }]);
  if (change !== undefined) await recordChange(trx, change);
  fault('settle:between');
  const { requestId, upstreamId } = task;
  const state = isCanceled ? 'canceled' : task.state === 'completed' ? 'completed' : 'failed';
  const log = {
    operation: task.operation,
    channel: task.channel,
    status: 200,
    errorCode: error?.code ?? null,
    units: charge?.units ?? 0,
    promptTokens: charge?.inputTokens ?? 0,
    completionTokens: charge?.outputTokens ?? 0,
    cost: charge?.cost ?? null,
    durationMs: Math.max(0, now - task.createdAt),
    evidence: { ...priceEvidence(task, charge?.appliedRule), state, taskId: id, upstreamId } as const,
  };
  if (charge === null) {
    // Refunds charge nothing and leave no debt.
    const isRefunded = await refund(trx, { requestId, log, now });
    return { task, booked: isRefunded ? { charged: 0, debt: 0 } : undefined };
  }
  const booked = await settle(trx, { requestId, charged: charge.quota, log, now });
  const charged = booked?.charged ?? null;
  // The quota of the key did not cover the whole cost.
  if (charged !== charge.quota)
    await trx.updateTable('tasks').set({ charged }).where('id', '=', id).execute();
  return { task: { ...task, charged }, booked };
}

type TaskPrice = Pick<TaskRecord, 'unitPrice' | 'groupRatio' | 'group' | 'configRevision' | 'pricing'>;

/** Returns the price of a task for the log. Without an applied rule, its rule has priced nothing. */
function priceEvidence(
  { unitPrice, groupRatio, group, configRevision, pricing }: TaskPrice,
  appliedRule: AppliedRule | null = pricing?.rule ? { ...pricing.rule, figures: {} } : null,
) {
  return { unitPrice, groupRatio, group, configRevision, appliedRule };
}

export type RemoveResult = 'removed' | 'not_final' | 'not_found';

/** Deletes a final task. Ledger and log do not change. */
export async function removeTask(trx: Db, name: TaskName): Promise<RemoveResult> {
  const task = sql`id = ${name.id} and user_id = ${name.userId} and format = ${name.format}
    and ${isSeen(name, 'tasks.token_id')}`;
  const remove = sql`delete from tasks where ${task} and completed_at is not null`;
  if (await affectsRow(trx, remove)) return 'removed';
  const { rows } = await sql`select 1 from tasks where ${task}`.execute(trx);
  return rows.length === 0 ? 'not_found' : 'not_final';
}

/** Deletes up to `limit` tasks that ended at or before a time. Returns how many. */
export function pruneTasks(trx: Db, { finalBy, limit }: { finalBy: number; limit: number }): Promise<number> {
  const prune = sql`
    delete from tasks where id in (select id from tasks where completed_at <= ${finalBy} limit ${limit})`;
  return countAffected(trx, prune);
}

/** Replaces the facts or the callback address of an open task. Null: unchanged. False when the task is final. */
export function addTaskInput(
  trx: Db,
  { id, facts, callbackUrl }: Pick<CamelCased<TasksTable>, 'id' | 'callbackUrl'> & { facts: string | null },
): Promise<boolean> {
  const update = trx
    .updateTable('tasks')
    .set((eb) => ({
      facts: facts ?? eb.ref('facts'),
      callback_url: callbackUrl ?? eb.ref('callback_url'),
    }))
    .where('id', '=', id)
    .where('state', 'in', open);
  return affectsRow(trx, update);
}

interface ResumedTask extends Pick<CamelCased<TasksTable>, 'id' | 'pollInterval'> {
  upstreamId: string;
  /** JSON object. */
  result: string;
  nextPollAt: number;
  now: number;
}

/** Resumes a waiting task and schedules its next poll. Rejects the results of earlier polls. Undefined when the task is final. */
export async function resumeTask(
  trx: Db,
  { id, now, ...task }: ResumedTask,
): Promise<TaskRecord | undefined> {
  const row = await trx
    .updateTable('tasks')
    .set((eb) => ({
      ...snakeCased(task),
      updated_at: now,
      polled_at: null,
      failures: 0,
      lease_owner: null,
      attempt: eb('attempt', '+', 1),
    }))
    .where('id', '=', id)
    .where('state', 'in', open)
    .returning(taskColumns)
    .executeTakeFirst();
  return row === undefined ? undefined : taskRecord(row);
}
