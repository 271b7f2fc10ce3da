import { type Kysely, sql } from 'kysely';
import { type TaskRecord, taskColumns, taskRecord } from '../queries/tasks.ts';
import { type ColumnType, lockedRowsOf, rowsOf } from '../rows.ts';
import type { Database, TaskFormat } from '../schema.ts';
import { execute } from '../statement.ts';
import type { Command } from './command.ts';
import { reserve } from './ledger.ts';

export interface NewTask {
  id: string;
  requestId: string;
  userId: number;
  tokenId: number;
  operation: string;
  format: TaskFormat;
  driver: string;
  model: string;
  unit: string;
  channel: string;
  /** JSON object. */
  facts: string;
  serviceTier: string | null;
  expectedUnits: number;
  /** Quota per unit, before the group's ratio. */
  unitPrice: number;
  groupRatio: number;
  /** The group whose ratio applied. */
  group: string;
  configRevision: string;
  /** Quota to hold. */
  amount: number;
  callbackUrl: string | null;
  idempotencyKey: string | null;
  fingerprint: string | null;
  /** Default: nobody follows it. */
  traceparent?: string | null;
  askedAt: number | null;
  deadlineAt: number;
  pollInterval: number;
  leaseOwner: string;
  leaseUntil: number;
  now: number;
}

export type NewTaskResult =
  | { outcome: 'created' | 'replayed'; task: TaskRecord }
  | { outcome: 'insufficient_quota' | 'other_request' | 'duplicate' | 'key_revoked' };

/** What is answered to one that asks for something again. */
type Repeated = { outcome: 'replayed'; task: TaskRecord } | { outcome: 'other_request' };

/**
 * Makes a task and its reservation out of the key's balance, or nothing of either. `replayed` is the user's earlier task of the
 * same idempotency key, `other_request` says that the earlier one was another request. `duplicate`: the request id was used
 * before, or an earlier task of the same key was in the way and is gone by now.
 */
export const createTask: Command<NewTask, NewTaskResult> = async (trx, task) => {
  const earlier = (await findEarlier(trx, [task])).get(task.id);
  if (earlier !== undefined) return earlier;
  const made = (await insertTasks(trx, [task])).get(task.id);
  // Another process made one of the same key at the same moment.
  if (made === undefined)
    return (await findEarlier(trx, [task])).get(task.id) ?? { outcome: 'duplicate' as const };
  const { requestId, tokenId, userId, model, unit, amount, now } = task;
  // Last, since the key's balance is the row that other processes wait for.
  const reservation = { requestId, tokenId, userId, model, unit, amount, now };
  const held = await reserve(trx, { ...reservation, kind: 'task', gateway: null });
  if (held === 'reserved') return { outcome: 'created', task: made };
  await deleteTasks(trx, [task.id]);
  return { outcome: held };
};

export interface LeasedTask extends NewTask {
  /** The lease that has its quota. */
  lease: string;
}

/** `no_lease`: the lease is not there any more, or its key is not usable. Nothing is made then. */
export type LeasedTaskResult =
  | Repeated
  | { outcome: 'created'; task: TaskRecord }
  | { outcome: 'duplicate' }
  | { outcome: 'no_lease' };

/**
 * Makes tasks whose quota their gateway has leased, each with its reservation, or nothing of either. From then on they are as any
 * other: the lease may go wherever it will. The keys' rows are read, and not waited for.
 */
export const createLeasedTasks: Command<readonly LeasedTask[], LeasedTaskResult[]> = async (trx, tasks) => {
  const results = new Map<string, LeasedTaskResult>(await findEarlier(trx, tasks));
  const fresh = tasks.filter(({ id }) => !results.has(id));
  const lowered = await lowerLeases(trx, fresh);
  const covered = fresh.filter(({ lease }) => lowered.has(lease));
  const made = await insertTasks(trx, covered);
  const held = await openReservations(
    trx,
    covered.filter(({ id }) => made.has(id)),
  );
  for (const { id, requestId } of covered) {
    const task = made.get(id);
    if (task !== undefined && held.has(requestId)) results.set(id, { outcome: 'created', task });
  }
  const unmade = covered.filter(({ id }) => !results.has(id));
  if (unmade.length > 0) await undo(trx, unmade, made, results);
  return tasks.map(({ id }) => results.get(id) ?? { outcome: 'no_lease' });
};

/** What has an idempotency key or a request id that was taken in the meantime, or within the batch. */
async function undo(
  trx: Kysely<Database>,
  unmade: readonly LeasedTask[],
  made: ReadonlyMap<string, TaskRecord>,
  results: Map<string, LeasedTaskResult>,
): Promise<void> {
  const rows = unmade.filter(({ id }) => made.has(id));
  if (rows.length > 0)
    await deleteTasks(
      trx,
      rows.map(({ id }) => id),
    );
  await raiseLeases(trx, unmade);
  const earlier = await findEarlier(trx, unmade);
  for (const { id } of unmade) results.set(id, earlier.get(id) ?? { outcome: 'duplicate' });
}

const repeatColumns = { new_id: 'text', asker: 'bigint', shape: 'text', repeat_key: 'text' } as const;

/** For those that repeat what their user has asked for under the same key before: what is to be answered, by their id. */
async function findEarlier(trx: Kysely<Database>, tasks: readonly NewTask[]): Promise<Map<string, Repeated>> {
  const keyed = tasks.flatMap(({ id, userId, format, idempotencyKey: key }) =>
    key === null ? [] : [{ new_id: id, asker: userId, shape: format, repeat_key: key }],
  );
  const found = new Map<string, Repeated>();
  if (keyed.length === 0) return found;
  const rows = await trx
    .selectFrom('tasks')
    .innerJoin(rowsOf(trx, repeatColumns, keyed).as('r'), (join) =>
      join
        .onRef('user_id', '=', 'r.asker')
        .onRef('format', '=', 'r.shape')
        .onRef('idempotency_key', '=', 'r.repeat_key'),
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

/** Takes what some tasks are to hold out of their leases. Gives the leases that are there and whose key may be used. */
async function lowerLeases(trx: Kysely<Database>, tasks: readonly LeasedTask[]): Promise<Set<string>> {
  if (tasks.length === 0) return new Set();
  const lower = sql<{ id: string }>`
    update quota_leases set remaining = quota_leases.remaining - s.amount,
      unposted = quota_leases.unposted + s.amount
    from ${lockedRowsOf(trx, 'quota_leases', leaseColumns, sumByLease(tasks))} as s, tokens
    where quota_leases.id = s.id and tokens.id = quota_leases.token_id
      and tokens.deleted_at is null and tokens.status = 1
    returning quota_leases.id`;
  const { rows } = await execute(trx, lower, { prepared: true });
  return new Set(rows.map(({ id }) => id));
}

/** Puts back what was taken out of leases in the same transaction. */
async function raiseLeases(trx: Kysely<Database>, tasks: readonly LeasedTask[]): Promise<void> {
  await sql`
    update quota_leases set remaining = quota_leases.remaining + s.amount,
      unposted = quota_leases.unposted - s.amount
    from ${rowsOf(trx, leaseColumns, sumByLease(tasks))} as s where quota_leases.id = s.id`.execute(trx);
}

const leaseColumns = { id: 'text', amount: 'bigint' } as const;

function sumByLease(tasks: readonly LeasedTask[]): { id: string; amount: number }[] {
  const sums = new Map<string, number>();
  for (const { lease, amount } of tasks) sums.set(lease, (sums.get(lease) ?? 0) + amount);
  return [...sums].map(([id, amount]) => ({ id, amount }));
}

const givenColumns = {
  id: 'text',
  request_id: 'text',
  user_id: 'bigint',
  token_id: 'bigint',
  operation: 'text',
  format: 'text',
  driver: 'text',
  model: 'text',
  unit: 'text',
  channel: 'text',
  facts: 'text',
  service_tier: 'text',
  expected_units: 'double precision',
  unit_price: 'double precision',
  group_ratio: 'double precision',
  group_name: 'text',
  config_revision: 'text',
  callback_url: 'text',
  idempotency_key: 'text',
  fingerprint: 'text',
  created_at: 'bigint',
  traceparent: 'text',
  asked_at: 'bigint',
  deadline_at: 'bigint',
  next_poll_at: 'bigint',
  poll_interval: 'integer',
  lease_owner: 'text',
} as const satisfies Record<string, ColumnType>;

const given = Object.keys(givenColumns).join(', ');

/** Gives those that were made, by their id: not those whose request id or idempotency key is taken. */
async function insertTasks(
  trx: Kysely<Database>,
  tasks: readonly NewTask[],
): Promise<Map<string, TaskRecord>> {
  if (tasks.length === 0) return new Map();
  const rows = tasks.map((task) => ({
    id: task.id,
    request_id: task.requestId,
    user_id: task.userId,
    token_id: task.tokenId,
    operation: task.operation,
    format: task.format,
    driver: task.driver,
    model: task.model,
    unit: task.unit,
    channel: task.channel,
    facts: task.facts,
    service_tier: task.serviceTier,
    expected_units: task.expectedUnits,
    unit_price: task.unitPrice,
    group_ratio: task.groupRatio,
    group_name: task.group,
    config_revision: task.configRevision,
    callback_url: task.callbackUrl,
    idempotency_key: task.idempotencyKey,
    fingerprint: task.fingerprint,
    created_at: task.now,
    traceparent: task.traceparent ?? null,
    asked_at: task.askedAt,
    deadline_at: task.deadlineAt,
    next_poll_at: task.leaseUntil,
    poll_interval: task.pollInterval,
    lease_owner: task.leaseOwner,
  }));
  // In one order, so that two batches with the same idempotency keys do not wait for each other in a circle.
  rows.sort((left, right) => compare(left.idempotency_key ?? '', right.idempotency_key ?? ''));
  const insert = trx
    .insertInto('tasks')
    .columns(taskTargets)
    .expression(
      sql`select ${sql.raw(given)}, created_at, 'queued', 0, 0, 1 from ${rowsOf(trx, givenColumns, rows)} as r where true`,
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning(taskColumns);
  const { rows: made } = await execute(trx, insert, { prepared: true });
  return new Map(made.map((row) => [row.id, taskRecord(row)]));
}

const taskTargets = [
  ...(Object.keys(givenColumns) as (keyof typeof givenColumns)[]),
  'updated_at',
  'state',
  'progress',
  'failures',
  'attempt',
] as const;

const compare = (left: string, right: string) => (left < right ? -1 : left > right ? 1 : 0);

const reservationColumns = {
  request_id: 'text',
  token_id: 'bigint',
  user_id: 'bigint',
  model: 'text',
  unit: 'text',
  reserved: 'bigint',
  opened_at: 'bigint',
} as const satisfies Record<string, ColumnType>;

const reservation = sql.raw(Object.keys(reservationColumns).join(', '));

/** Gives the request ids that were not used before. */
async function openReservations(trx: Kysely<Database>, tasks: readonly NewTask[]): Promise<Set<string>> {
  if (tasks.length === 0) return new Set();
  const opened = tasks.map(({ requestId, tokenId, userId, model, unit, amount, now }) => ({
    request_id: requestId,
    token_id: tokenId,
    user_id: userId,
    model,
    unit,
    reserved: amount,
    opened_at: now,
  }));
  const insert = sql<{ request_id: string }>`
    insert into ledger (${reservation}, unlimited, state, kind)
    select ${reservation}, 0, 'open', 'task' from ${rowsOf(trx, reservationColumns, opened)} as r where true
    on conflict (request_id) do nothing returning request_id`;
  const { rows } = await execute(trx, insert, { prepared: true });
  return new Set(rows.map(({ request_id: id }) => id));
}

async function deleteTasks(trx: Kysely<Database>, ids: readonly string[]): Promise<void> {
  await trx.deleteFrom('tasks').where('id', 'in', ids).execute();
}
