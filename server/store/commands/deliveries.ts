import { sql } from 'kysely';
import { type CamelCased, snakeCased } from '../columns.ts';
import type { TaskRecord } from '../queries/tasks.ts';
import type { Db, DeliveriesTable } from '../schema.ts';
import { affectsRow, countAffected, isPostgres, statement } from '../statement.ts';
import { type NewChange, recordChange } from './changes.ts';

/** An open delivery of a state of a task, which can have left that state, or of an event. */
export type DeliveryRecord = { id: number } & Pick<
  CamelCased<DeliveriesTable>,
  'userId' | 'taskId' | 'state' | 'eventId' | 'endpointId' | 'host' | 'changedAt' | 'tries' | 'attempt'
>;

export interface DeliveryTry {
  id: number;
  /** null: an event. */
  taskId: string | null;
  attempt: number;
  tries: number;
  /** HTTP status or error code; null: nothing was sent. */
  answer: number | string | null;
  /** Time of the next try, or the outcome. */
  next: { at: number } | { outcome: 'delivered' | 'given_up' };
  now: number;
}

/** Records a try. The next delivery of the task follows when this one is closed. False when the claim is not the latest. */
export async function recordDelivery(
  trx: Db,
  { id, taskId, attempt, tries, answer, next, now }: DeliveryTry,
): Promise<boolean> {
  if (taskId !== null) await lockTask(trx, taskId);
  const update = trx
    .updateTable('deliveries')
    .set({
      tries,
      lease_owner: null,
      ...(answer !== null && {
        last_try_at: now,
        last_status: typeof answer === 'number' ? answer : null,
        last_error: typeof answer === 'string' ? answer : null,
      }),
      ...('at' in next
        ? { next_try_at: next.at }
        : { next_try_at: null, outcome: next.outcome, closed_at: now }),
    })
    .where('id', '=', id)
    .where('attempt', '=', attempt)
    .where('closed_at', 'is', null);
  const isRecorded = await affectsRow(trx, update);
  if (isRecorded && taskId !== null) await scheduleFirst(trx, taskId, now);
  return isRecorded;
}

/** Locks a task, so that its deliveries change one after the other. False when the task does not exist. */
async function lockTask(trx: Db, id: string): Promise<boolean> {
  const task = trx.selectFrom('tasks').select('id').where('id', '=', id);
  const row = await (isPostgres(trx) ? task.forUpdate() : task).executeTakeFirst();
  return row !== undefined;
}

/** Schedules the first open delivery of a task and makes the others wait, unless one is claimed. `dueNow`: it is due at once. */
async function scheduleFirst(trx: Db, taskId: string, now: number, dueNow = false): Promise<void> {
  const open = await trx
    .selectFrom('deliveries')
    .select(['id', 'lease_owner', 'next_try_at'])
    .where('task_id', '=', taskId)
    .where('closed_at', 'is', null)
    .orderBy('id')
    .$if(isPostgres(trx), (query) => query.forUpdate())
    .execute();
  if (open.some(({ lease_owner: owner }) => owner !== null)) return;
  for (const [index, { id, next_try_at: due }] of open.entries()) {
    if (index > 0 && due !== null) await setDue(trx, { id, at: null });
    else if (index === 0 && (due === null || (dueNow && due > now))) await setDue(trx, { id, at: now });
  }
}

const setDue = statement<{ id: number; at: number | null }>()`
  update deliveries set next_try_at = ${'at'} where id = ${'id'}`;

/**
 * Makes a delivery due now, after earlier ones of its task, and reopens a closed one. `not_found`: it or its task does not
 * exist. `disabled`: its endpoint is disabled. `endpointId`: only a delivery to this endpoint.
 */
export async function resendDelivery(
  trx: Db,
  {
    id,
    endpointId,
    now,
    change,
  }: { id: number; endpointId?: number | undefined; now: number; change?: NewChange | undefined },
): Promise<'resent' | 'not_found' | 'disabled'> {
  const delivery = await trx
    .selectFrom('deliveries')
    .select(['task_id', 'endpoint_id'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (delivery === undefined) return 'not_found';
  const { task_id: taskId, endpoint_id: endpoint } = delivery;
  if (endpointId !== undefined && endpoint !== endpointId) return 'not_found';
  const refusal = taskId === null ? await refusalOf(trx, endpoint) : undefined;
  if (refusal !== undefined) return refusal;
  if (taskId !== null && !(await lockTask(trx, taskId))) return 'not_found';
  // A new attempt number rejects the result of an earlier claim.
  const reopen = sql`
    update deliveries set outcome = null, closed_at = null, tries = case when closed_at is null then tries else 0 end,
      attempt = case when closed_at is null then attempt else attempt + 1 end,
      next_try_at = case when event_id is null or lease_owner is not null then next_try_at else ${now} end
    where id = ${id}`;
  if (!(await affectsRow(trx, reopen))) return 'not_found';
  if (taskId !== null) await scheduleFirst(trx, taskId, now, true);
  if (change !== undefined) await recordChange(trx, change);
  return 'resent';
}

/** Returns why nothing can be sent to an endpoint. Undefined: it can. */
async function refusalOf(trx: Db, id: number | null): Promise<'not_found' | 'disabled' | undefined> {
  const endpoint = await trx
    .selectFrom('callback_endpoints')
    .select('disabled_at')
    .where('id', '=', id)
    .executeTakeFirst();
  if (endpoint === undefined) return 'not_found';
  return endpoint.disabled_at === null ? undefined : 'disabled';
}

/** Deletes up to `limit` deliveries that were closed at or before a time. Returns how many. */
export function pruneDeliveries(trx: Db, { closedBy, limit }: { closedBy: number; limit: number }) {
  // The second condition on `closed_at` holds back a delivery that is reopened at the same moment.
  const prune = sql`
    delete from deliveries where id in (select id from deliveries where closed_at <= ${closedBy} limit ${limit})
      and closed_at <= ${closedBy}`;
  return countAffected(trx, prune);
}

/** A task that has reached a state, and when the delivery of that state is due. */
export type DeliveredTask = Pick<
  TaskRecord,
  'id' | 'userId' | 'format' | 'driver' | 'state' | 'error' | 'callbackUrl' | 'updatedAt'
> & { due: number };

/** The error code of tasks that their owner canceled, which are not delivered. */
const canceled = 'task_canceled';

/** Adds the deliveries of states that tasks have just reached. The caller has locked the tasks by changing them. */
export async function addDeliveries(trx: Db, tasks: readonly DeliveredTask[]): Promise<void> {
  const due = tasks.flatMap((task) => {
    const host = task.callbackUrl === null ? undefined : URL.parse(task.callbackUrl)?.host;
    return host === undefined || !isDelivered(task) ? [] : [{ ...task, host }];
  });
  if (due.length === 0) return;
  const ids = due.map(({ id }) => id);
  const open = await trx
    .selectFrom('deliveries')
    .select('task_id')
    .where('task_id', 'in', ids)
    .where('closed_at', 'is', null)
    .execute();
  const waiting = new Set(open.map(({ task_id }) => task_id));
  const rows = due.map(({ id: taskId, userId, state, host, updatedAt: changedAt, due }) =>
    snakeCased({
      taskId,
      userId,
      state,
      host,
      changedAt,
      tries: 0,
      attempt: 0,
      nextTryAt: waiting.has(taskId) ? null : due,
    }),
  );
  await trx
    .insertInto('deliveries')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['task_id', 'state']).doNothing())
    .execute();
}

/** Official tasks deliver every state, image jobs each state after the first, and music tasks the final state. */
function isDelivered({ format, driver, state, error }: DeliveredTask): boolean {
  if (error?.code === canceled) return false;
  if (format === 'music') return state === 'completed' || state === 'failed';
  if (format === 'image') return state !== 'queued';
  return format === 'official' || driver === 'official';
}
