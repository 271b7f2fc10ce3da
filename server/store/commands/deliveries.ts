import type { Kysely } from 'kysely';
import type { TaskRecord } from '../queries/tasks.ts';
import type { Database, TaskState } from '../schema.ts';
import { isPostgres, statement } from '../statement.ts';
import { type NewChange, recordChange } from './changes.ts';
import type { Command } from './command.ts';

/** A delivery that is still to be made. */
export interface DeliveryRecord {
  id: number;
  /** Owner of the task. */
  userId: number;
  taskId: string;
  /** The state it reports, which the task may have left since. */
  state: TaskState;
  host: string;
  /** When the task reached the state, epoch milliseconds. */
  changedAt: number;
  /** Tries that failed. */
  tries: number;
  attempt: number;
}

export interface DeliveryTry {
  id: number;
  taskId: string;
  attempt: number;
  tries: number;
  /** A status or a code; null: nothing was sent. */
  answer: number | string | null;
  /** When to try again, or how it ended. */
  next: { at: number } | { outcome: 'delivered' | 'given_up' };
  now: number;
}

/**
 * Writes down how a try went, and lets the task's next delivery follow a closed one, or one before that is to be sent
 * again. False when the claim was not the latest any more.
 */
export const recordDelivery: Command<DeliveryTry, boolean> = async (
  trx,
  { id, taskId, attempt, tries, answer, next, now },
) => {
  await holdTask(trx, taskId);
  const { numUpdatedRows } = await trx
    .updateTable('deliveries')
    .set({
      tries,
      lease_owner: null,
      ...(answer === null
        ? {}
        : {
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
    .where('closed_at', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) await release(trx, taskId, now);
  return numUpdatedRows > 0n;
};

/**
 * Whoever adds, closes or sends again a delivery holds its task, so that it finds the others as they are. False when the
 * task is there no more.
 */
async function holdTask(trx: Kysely<Database>, id: string): Promise<boolean> {
  const task = trx.selectFrom('tasks').select('id').where('id', '=', id);
  const row = await (isPostgres(trx) ? task.forUpdate() : task).executeTakeFirst();
  return row !== undefined;
}

/**
 * Has the first open delivery of a task tried and the others wait for it; while one is under way, all others wait.
 * `hurry`: now, whatever its schedule says. Their rows are locked, so that none is claimed meanwhile.
 */
async function release(trx: Kysely<Database>, taskId: string, now: number, hurry = false): Promise<void> {
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
    else if (index === 0 && (due === null || (hurry && due > now))) await setDue(trx, { id, at: now });
  }
}

const setDue = statement<{ id: number; at: number | null }>()`
  update deliveries set next_try_at = ${'at'} where id = ${'id'}`;

/**
 * Has a delivery tried now, and by its schedule from the start if it was closed. While an earlier one of its task is
 * open, that one is tried and this one follows. `not_found`: it, or its task, is there no more.
 */
export const resendDelivery: Command<
  { id: number; now: number; change: NewChange },
  'resent' | 'not_found'
> = async (trx, { id, now, change }) => {
  const named = await trx.selectFrom('deliveries').select('task_id').where('id', '=', id).executeTakeFirst();
  if (named === undefined || !(await holdTask(trx, named.task_id))) return 'not_found';
  const there = await trx
    .updateTable('deliveries')
    .set(({ eb, ref }) => {
      const wasClosed = eb('closed_at', 'is not', null);
      return {
        outcome: null,
        closed_at: null,
        tries: eb.case().when(wasClosed).then(0).else(ref('tries')).end(),
        // What an earlier claim finds out is about an earlier try.
        attempt: eb
          .case()
          .when(wasClosed)
          .then(eb('attempt', '+', 1))
          .else(ref('attempt'))
          .end(),
      };
    })
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  if (there === undefined) return 'not_found';
  await release(trx, named.task_id, now, true);
  await recordChange(trx, change);
  return 'resent';
};

/** Makes deliveries under a lease due at once: those of one owner, or with null of all that are gone. Says how many. */
export const releaseDeliveries: Command<{ owner: string | null; now: number }, number> = async (
  trx,
  { owner, now },
) => {
  const { numUpdatedRows } = await trx
    .updateTable('deliveries')
    .set(({ eb }) => ({ lease_owner: null, next_try_at: now, attempt: eb('attempt', '+', 1) }))
    .where('next_try_at', 'is not', null)
    .where('lease_owner', 'is not', null)
    .where(({ eb, not, exists, selectFrom }) =>
      owner === null
        ? not(
            exists(
              selectFrom('gateways').select('id').whereRef('gateways.id', '=', 'deliveries.lease_owner'),
            ),
          )
        : eb('lease_owner', '=', owner),
    )
    .executeTakeFirst();
  return Number(numUpdatedRows);
};

/** Makes deliveries due at once that no gateway has claimed and that are due only after `after`. Returns how many. */
export const repairDueDeliveries: Command<{ now: number; after: number }, number> = async (
  trx,
  { now, after },
) => {
  const { numUpdatedRows } = await trx
    .updateTable('deliveries')
    .set({ next_try_at: now })
    .where('next_try_at', '>', after)
    .where('lease_owner', 'is', null)
    .executeTakeFirst();
  return Number(numUpdatedRows);
};

/** Forgets at the most `limit` deliveries that were closed at `closedBy` or before, and says how many. */
export const pruneDeliveries: Command<{ closedBy: number; limit: number }, number> = async (
  trx,
  { closedBy, limit },
) => {
  const { numDeletedRows } = await trx
    .deleteFrom('deliveries')
    .where('id', 'in', (db) =>
      db.selectFrom('deliveries').select('id').where('closed_at', '<=', closedBy).limit(limit),
    )
    // It may be sent again at this moment.
    .where('closed_at', '<=', closedBy)
    .executeTakeFirst();
  return Number(numDeletedRows);
};

/** What has to be known of a task to deliver a change, and when that is due. */
export type DeliveredTask = Pick<
  TaskRecord,
  'id' | 'userId' | 'format' | 'driver' | 'state' | 'error' | 'callbackUrl' | 'updatedAt'
> & { due: number };

/** The error code of tasks that their owner canceled, which are not delivered. */
const canceled = 'task_canceled';

/**
 * Puts deliveries of the states that tasks have just reached into the outbox, where their formats have any. The tasks'
 * rows are locked, since the caller has changed them.
 */
export async function addDeliveries(trx: Kysely<Database>, tasks: readonly DeliveredTask[]): Promise<void> {
  const due = tasks.flatMap((task) => {
    const host = task.callbackUrl === null ? undefined : URL.parse(task.callbackUrl)?.host;
    return host === undefined || !delivers(task) ? [] : [{ ...task, host }];
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
  const rows = due.map(({ id, userId, state, host, updatedAt, due }) => ({
    task_id: id,
    user_id: userId,
    state,
    host,
    changed_at: updatedAt,
    tries: 0,
    next_try_at: waiting.has(id) ? null : due,
    lease_owner: null,
    attempt: 0,
    outcome: null,
    closed_at: null,
  }));
  await trx
    .insertInto('deliveries')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['task_id', 'state']).doNothing())
    .execute();
}

/**
 * Official tasks, whatever format they were made in, deliver every change; image jobs what follows their submit answer;
 * music its end; others nothing.
 */
function delivers({ format, driver, state, error }: DeliveredTask): boolean {
  if (error?.code === canceled) return false;
  if (format === 'music') return state === 'completed' || state === 'failed';
  if (format === 'image') return state !== 'queued';
  return format === 'official' || driver === 'official';
}
