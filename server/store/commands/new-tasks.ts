import { type Selectable, sql } from 'kysely';
import type { CamelCased, SnakeCase } from '../columns.ts';
import { type TaskRecord, taskColumns, taskRecord } from '../queries/tasks.ts';
import { columnsOf, lockedRowsOf, rowsOf } from '../rows.ts';
import type { Db, LedgerTable, NewTaskColumns } from '../schema.ts';
import { execute, isPostgres } from '../statement.ts';
import { reserve } from './ledger.ts';
import { enqueue, type QueuedRequest, type QueueRefusal, refusedByQueue } from './task-queue.ts';

type DerivedColumn = 'groupName' | 'createdAt' | 'traceparent' | 'retryCount' | 'pricing';

export interface NewTask extends Omit<CamelCased<NewTaskColumns>, DerivedColumn> {
  /** The group whose ratio applied. */
  group: string;
  /** JSON object (`TaskPricing`). Default: every unit has the same price. */
  pricing?: string | null;
  /** Quota to reserve. */
  amount: number;
  /** Default: not traced. */
  traceparent?: string | null;
  /** Retry count of a request without an idempotency key. Above 0: an earlier task may answer it. Default: not a request of an SDK. */
  retryCount?: number | null;
  /** The gateway that claims it, until `leaseUntil`. */
  leaseOwner: string;
  leaseUntil: number;
  now: number;
  /** Set: no gateway claims it yet, and it waits in the queue. */
  queue?: QueuedRequest | undefined;
}

/** An earlier task with the same idempotency key, or the task that answers a retry. `other_request`: its request was another one. */
type EarlierTask = { outcome: 'replayed'; task: TaskRecord } | { outcome: 'other_request' };

/** The task is not inserted, because it would have to wait and the queue has no place for it. */
type RefusedTask = { outcome: QueueRefusal };

export type NewTaskResult =
  | EarlierTask
  | RefusedTask
  | { outcome: 'created'; task: TaskRecord }
  | { outcome: 'insufficient_quota' }
  /** A hard budget does not cover it. */
  | { outcome: 'over_budget' }
  | { outcome: 'duplicate' | 'key_revoked' };

/** Inserts a task and its reservation, or neither. `duplicate`: the request id exists, or the idempotency key was in use until now. */
export async function createTask(trx: Db, task: NewTask): Promise<NewTaskResult> {
  const earlier = (await findEarlier(trx, [task])).get(task.id);
  if (earlier !== undefined) return earlier;
  const retried = await answerRetry(trx, task);
  if (retried !== undefined) return { outcome: 'replayed', task: retried };
  const refusal = (await refusedByQueue(trx, [task])).get(task.id);
  if (refusal !== undefined) return { outcome: refusal };
  const inserted = (await insertTasks(trx, [task])).get(task.id);
  // Another transaction inserted one with the same key.
  if (inserted === undefined)
    return (await findEarlier(trx, [task])).get(task.id) ?? { outcome: 'duplicate' as const };
  const { requestId, tokenId, userId, model, unit, amount, now } = task;
  // Last, since other processes wait for the key's row.
  const reservation = { requestId, tokenId, userId, model, unit, amount, now };
  const outcome = await reserve(trx, { ...reservation, kind: 'task', gateway: null });
  if (outcome === 'reserved') return { outcome: 'created', task: inserted };
  await deleteTasks(trx, [task.id]);
  return { outcome };
}

export interface LeasedTask extends NewTask {
  /** The lease that has its quota. */
  lease: string;
}

/** `no_lease`: the lease does not exist any more, or its key cannot be used. Nothing is inserted. */
export type LeasedTaskResult =
  | EarlierTask
  | RefusedTask
  | { outcome: 'created'; task: TaskRecord }
  | { outcome: 'duplicate' }
  | { outcome: 'no_lease' };

/** Inserts tasks with reservations of leased quota. Does not wait for the rows of the keys, and the leases can end afterwards. */
export async function createLeasedTasks(trx: Db, tasks: readonly LeasedTask[]): Promise<LeasedTaskResult[]> {
  const results = new Map<string, LeasedTaskResult>(await findEarlier(trx, tasks));
  const unknown = tasks.filter(({ id }) => !results.has(id));
  for (const [id, outcome] of await refusedByQueue(trx, unknown)) results.set(id, { outcome });
  const fresh = unknown.filter(({ id }) => !results.has(id));
  const leases = await takeFromLeases(trx, fresh);
  const covered = fresh.filter(({ lease }) => leases.has(lease));
  const inserted = await insertTasks(trx, covered);
  const reserved = await openReservations(
    trx,
    covered.filter(({ id }) => inserted.has(id)),
    leases,
  );
  for (const { id, requestId } of covered) {
    const task = inserted.get(id);
    if (task !== undefined && reserved.has(requestId)) results.set(id, { outcome: 'created', task });
  }
  const failed = covered.filter(({ id }) => !results.has(id));
  if (failed.length > 0) await undo(trx, failed, inserted, results);
  return tasks.map(({ id }) => results.get(id) ?? { outcome: 'no_lease' });
}

/** Undoes tasks whose idempotency key or request id another transaction, or another task of the batch, has inserted. */
async function undo(
  trx: Db,
  failed: readonly LeasedTask[],
  inserted: ReadonlyMap<string, TaskRecord>,
  results: Map<string, LeasedTaskResult>,
): Promise<void> {
  const ids = failed.flatMap(({ id }) => (inserted.has(id) ? id : []));
  if (ids.length > 0) await deleteTasks(trx, ids);
  await sql`
    update quota_leases set remaining = quota_leases.remaining + s.amount,
      unposted = quota_leases.unposted - s.amount
    from ${rowsOf(trx, sumByLease(failed))} as s where quota_leases.id = s.lease`.execute(trx);
  const earlier = await findEarlier(trx, failed);
  for (const { id } of failed) results.set(id, earlier.get(id) ?? { outcome: 'duplicate' });
}

/** Finds the earlier tasks of the same user, format and idempotency key, by the id of the new task. */
async function findEarlier(trx: Db, tasks: readonly NewTask[]): Promise<Map<string, EarlierTask>> {
  const keyed = tasks.flatMap(({ id, userId, format, idempotencyKey: key }) =>
    key === null ? [] : [{ newId: id, newUser: userId, newFormat: format, newKey: key }],
  );
  const found = new Map<string, EarlierTask>();
  if (keyed.length === 0) return found;
  const rows = await trx
    .selectFrom('tasks')
    .innerJoin(rowsOf(trx, keyed).as('r'), (join) =>
      join
        .onRef('user_id', '=', 'r.new_user')
        .onRef('format', '=', 'r.new_format')
        .onRef('idempotency_key', '=', 'r.new_key'),
    )
    .select([...taskColumns, 'fingerprint', 'r.new_id'])
    .execute();
  const fingerprints = new Map(tasks.map(({ id, fingerprint }) => [id, fingerprint]));
  for (const { fingerprint, new_id: id, ...row } of rows) {
    const isSame = fingerprint === fingerprints.get(id);
    found.set(id, isSame ? { outcome: 'replayed', task: taskRecord(row) } : { outcome: 'other_request' });
  }
  return found;
}

/** How long after its creation a task answers retries (ms). */
const retryWindowMs = 10 * 60_000;

/** First key of the advisory locks on the retries of a request. */
const retriesLock = 1_181_204_558;

type RetriedRequest = Pick<NewTask, 'tokenId' | 'fingerprint' | 'retryCount' | 'now'>;

/**
 * Finds the task of an identical request of the same API key that answers a retry, and records that it did. A task
 * answers increasing retry counts only, since each chain of retries counts from 1.
 */
export async function answerRetry(
  trx: Db,
  { tokenId, fingerprint, retryCount = null, now }: RetriedRequest,
): Promise<TaskRecord | undefined> {
  if (retryCount === null || retryCount === 0) return undefined;
  // Serializes the retries of a request until the commit, so that a concurrent one finds the task that this one creates.
  if (isPostgres(trx))
    await sql`select pg_advisory_xact_lock(${retriesLock}, hashtext(${fingerprint}))`.execute(trx);
  const row = await trx
    .updateTable('tasks')
    .set({ retry_count: retryCount })
    .where('id', '=', (eb) =>
      eb
        .selectFrom('tasks')
        .select('id')
        .where('token_id', '=', tokenId)
        .where('fingerprint', '=', fingerprint)
        .where('retry_count', '<', retryCount)
        .where('created_at', '>', now - retryWindowMs)
        // The chain that has come furthest, then the latest one.
        .orderBy('retry_count', 'desc')
        .orderBy('created_at', 'desc')
        .limit(1),
    )
    .returning(taskColumns)
    .executeTakeFirst();
  return row === undefined ? undefined : taskRecord(row);
}

/** Whether the key of a lease has no limit, and the user whose wallet gave its quota. */
type LeaseFlags = Pick<Selectable<LedgerTable>, 'unlimited' | 'wallet_id'>;

/** Takes the quota of tasks out of their leases. Returns the leases that exist and whose key can be used. */
async function takeFromLeases(trx: Db, tasks: readonly LeasedTask[]): Promise<Map<string, LeaseFlags>> {
  if (tasks.length === 0) return new Map();
  const update = sql<{ id: string } & LeaseFlags>`
    update quota_leases set remaining = quota_leases.remaining - s.amount,
      unposted = quota_leases.unposted + s.amount
    from ${lockedRowsOf(trx, 'quota_leases', sumByLease(tasks))} as s, tokens
    where quota_leases.id = s.lease and tokens.id = quota_leases.token_id
      and tokens.deleted_at is null and tokens.status = 1
    returning quota_leases.id, quota_leases.unlimited, quota_leases.wallet_id`;
  const { rows } = await execute(trx, update, { prepared: true });
  return new Map(rows.map(({ id, ...flags }) => [id, flags]));
}

function sumByLease(tasks: readonly LeasedTask[]): { lease: string; amount: number }[] {
  const sums = new Map<string, number>();
  for (const { lease, amount } of tasks) sums.set(lease, (sums.get(lease) ?? 0) + amount);
  return [...sums].map(([lease, amount]) => ({ lease, amount }));
}

/** Inserts tasks whose request id and idempotency key do not exist yet, and returns these by their ids. */
async function insertTasks(
  trx: Db,
  tasks: readonly (NewTask & { lease?: string })[],
): Promise<Map<string, TaskRecord>> {
  if (tasks.length === 0) return new Map();
  const records = tasks.map((newTask) => {
    const { amount: _, lease: __, group: groupName, leaseUntil, now: createdAt, queue, ...task } = newTask;
    const { traceparent = null, retryCount = null, pricing = null } = task;
    const isQueued = queue !== undefined;
    return {
      ...task,
      traceparent,
      retryCount,
      pricing,
      groupName,
      createdAt,
      leaseOwner: isQueued ? null : task.leaseOwner,
      nextPollAt: isQueued ? null : leaseUntil,
      queuedAt: queue?.queuedAt ?? null,
    };
  });
  // In the order of keys, so that two transactions with the same keys do not deadlock.
  records.sort((left, right) => compare(left.idempotencyKey ?? '', right.idempotencyKey ?? ''));
  const columns = columnsOf(records) as SnakeCase<keyof (typeof records)[number]>[];
  const values = sql.raw(columns.join(', '));
  const insert = trx
    .insertInto('tasks')
    .columns([...columns, 'updated_at', 'state', 'progress', 'failures', 'attempt'])
    .expression(
      sql`select ${values}, created_at, 'queued', 0, 0, 1 from ${rowsOf(trx, records)} as r where true`,
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning(taskColumns);
  const { rows: inserted } = await execute(trx, insert, { prepared: true });
  const ids = new Set(inserted.map(({ id }) => id));
  for (const { id, userId, queue } of tasks)
    if (queue !== undefined && ids.has(id)) await enqueue(trx, { ...queue, taskId: id, userId });
  return new Map(inserted.map((row) => [row.id, taskRecord(row)]));
}

const compare = (left: string, right: string) => (left < right ? -1 : left > right ? 1 : 0);

/** Opens reservations, and returns the request ids that did not exist yet. */
async function openReservations(
  trx: Db,
  tasks: readonly LeasedTask[],
  leases: ReadonlyMap<string, LeaseFlags>,
): Promise<Set<string>> {
  if (tasks.length === 0) return new Set();
  const records = tasks.map((task) => {
    const { requestId, tokenId, userId, model, unit, amount: reserved, now: openedAt } = task;
    const { unlimited = 0, wallet_id: walletId = null } = leases.get(task.lease) ?? {};
    return { requestId, tokenId, userId, model, unit, reserved, openedAt, unlimited, walletId };
  });
  const columns = sql.raw(columnsOf(records).join(', '));
  const insert = sql<{ request_id: string }>`
    insert into ledger (${columns}, state, kind)
    select ${columns}, 'open', 'task' from ${rowsOf(trx, records)} as r where true
    on conflict (request_id) do nothing returning request_id`;
  const { rows: opened } = await execute(trx, insert, { prepared: true });
  return new Set(opened.map(({ request_id: id }) => id));
}

async function deleteTasks(trx: Db, ids: readonly string[]): Promise<void> {
  await trx.deleteFrom('tasks').where('id', 'in', ids).execute();
}
