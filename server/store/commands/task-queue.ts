import { sql } from 'kysely';
import type { CamelCased } from '../columns.ts';
import { type TaskRecord, taskColumns, taskRecord } from '../queries/tasks.ts';
import { rowsOf } from '../rows.ts';
import type { Db, TaskQueueTable } from '../schema.ts';
import { affectsRow, isPostgres } from '../statement.ts';

/** The columns of a task in the queue that its creation sets. */
export interface QueuedRequest
  extends Pick<
    CamelCased<TaskQueueTable>,
    'pool' | 'request' | 'lifetimeMs' | 'queuedAt' | 'waitUntil' | 'channels'
  > {
  limits: QueueLimits;
}

/** Largest number of tasks in the queue, and largest sum of their requests in bytes. */
interface QueueSize {
  tasks: number;
  bytes: number;
}

/** Limits of the queue, in total and for each user. */
export type QueueLimits = Readonly<Record<'total' | 'user', QueueSize>>;

/** Why the queue accepts no further task: its limits in total, or those of the user. */
export type QueueRefusal = 'queue_full' | 'user_queue_full';

/** Finds the new tasks that the limits of the queue refuse. Concurrent transactions can exceed a limit, each by its own tasks. */
export async function refusedByQueue(
  trx: Db,
  tasks: readonly { id: string; userId: number; queue?: QueuedRequest | undefined }[],
): Promise<Map<string, QueueRefusal>> {
  const refused = new Map<string, QueueRefusal>();
  if (tasks.every(({ queue }) => queue === undefined)) return refused;
  const rows = await trx
    .selectFrom('task_queue')
    .select(['user_id', ({ fn }) => fn.countAll<number>().as('tasks')])
    .select(sql<number>`cast(sum(request_bytes) as bigint)`.as('bytes'))
    .groupBy('user_id')
    .execute();
  const total: QueueSize = { tasks: 0, bytes: 0 };
  for (const { tasks: count, bytes } of rows) add(total, count, bytes);
  const byUser = new Map(
    rows.map(({ user_id: user, tasks: count, bytes }) => [user, { tasks: count, bytes }]),
  );
  for (const { id, userId, queue } of tasks) {
    if (queue === undefined) continue;
    const bytes = Buffer.byteLength(queue.request);
    const ofUser = byUser.get(userId) ?? { tasks: 0, bytes: 0 };
    byUser.set(userId, ofUser);
    if (!hasPlace(ofUser, bytes, queue.limits.user)) refused.set(id, 'user_queue_full');
    else if (!hasPlace(total, bytes, queue.limits.total)) refused.set(id, 'queue_full');
    else for (const size of [total, ofUser]) add(size, 1, bytes);
  }
  return refused;
}

function add(size: QueueSize, tasks: number, bytes: number): void {
  size.tasks += tasks;
  size.bytes += bytes;
}

/** Whether one more task fits. An empty queue accepts any request. */
const hasPlace = ({ tasks, bytes }: QueueSize, more: number, max: QueueSize) =>
  tasks === 0 || (tasks < max.tasks && bytes + more <= max.bytes);

/** Adds a task to the queue, in the transaction that inserts it. */
export async function enqueue(
  trx: Db,
  { queuedAt, ...row }: QueuedRequest & { taskId: string; userId: number },
): Promise<void> {
  await trx
    .insertInto('task_queue')
    .values({
      task_id: row.taskId,
      user_id: row.userId,
      pool: row.pool,
      channels: row.channels,
      excluded: '[]',
      request: row.request,
      request_bytes: Buffer.byteLength(row.request),
      lifetime_ms: row.lifetimeMs,
      queued_at: queuedAt,
      wait_until: row.waitUntil,
      not_before: queuedAt,
    })
    .execute();
}

/** Removes a task from the queue. */
export async function dequeue(trx: Db, id: string): Promise<void> {
  await trx.deleteFrom('task_queue').where('task_id', '=', id).execute();
}

/** A channel with the number of tasks that it can take now. */
export interface QueueChannel {
  channel: string;
  /** Channels that work come first. */
  isHealthy: boolean;
  /** Unfinished tasks that the channel may have, over all gateways; null: no limit. */
  maxTasks: number | null;
  /** Tasks that it may get now for other reasons; null: any number. */
  maxStarts: number | null;
}

/** A task that left the queue, claimed for its submission. */
export interface StartedTask {
  task: TaskRecord;
  /** JSON value for the driver. */
  request: string;
  /** Channels in the order of preference, and those that could not take the task in this round. */
  channels: readonly string[];
  excluded: readonly string[];
  /** By the clock of due times. */
  queuedAt: number;
  waitUntil: number;
}

interface Start {
  channels: readonly QueueChannel[];
  owner: string;
  /** By the clock of due times. */
  now: number;
  /** End of the claims. */
  until: number;
  /** Largest number of tasks to start. */
  limit: number;
}

/** Advisory lock on the choice of tasks, so that gateways do not exceed a limit together. */
const queueLock = 1_181_204_559;

/**
 * Claims waiting tasks as far as the limits of channels allow. The user with the fewest unfinished tasks on these channels
 * comes first, then the one that was served the longest time ago. Each user's tasks keep the order of their creation. `late`: tasks that have waited too long.
 */
export async function startQueuedTasks(
  trx: Db,
  { channels, owner, now, until, limit }: Start,
): Promise<{ started: StartedTask[]; late: TaskRecord[] }> {
  if (isPostgres(trx)) await sql`select pg_advisory_xact_lock(${queueLock})`.execute(trx);
  const late = await lateTasks(trx, now, limit);
  const names = channels.map(({ channel }) => channel);
  if (names.length === 0) return { started: [], late };
  const open = await openTasks(trx, names);
  const turns = await trx.selectFrom('queue_turns').selectAll().execute();
  const servedAt = new Map(turns.map((one) => [one.user_id, one.served_at]));
  const waiting = await waitingTasks(trx, now, limit);
  const picked = pick(waiting, { channels, open, servedAt, now, limit });
  if (picked.length === 0) return { started: [], late };
  await recordTurns(trx, waiting, picked, now);
  const rows = await trx
    .updateTable('tasks')
    .from(rowsOf(trx, picked).as('p'))
    .innerJoin('task_queue as q', 'q.task_id', 'p.id')
    .whereRef('tasks.id', '=', 'p.id')
    .set((eb) => ({
      channel: eb.ref('p.channel'),
      lease_owner: owner,
      next_poll_at: until,
      deadline_at: sql<number>`${now} + q.lifetime_ms`,
      queued_at: null,
      attempt: eb('tasks.attempt', '+', 1),
    }))
    .returning('tasks.id')
    .execute();
  const ids = rows.map(({ id }) => id);
  const tasks = await trx.selectFrom('tasks').select(taskColumns).where('id', 'in', ids).execute();
  const requests = await trx.selectFrom('task_queue').selectAll().where('task_id', 'in', ids).execute();
  const requestOf = new Map(requests.map((one) => [one.task_id, one]));
  const started = tasks.flatMap((row) => {
    const queued = requestOf.get(row.id);
    if (queued === undefined) return [];
    return {
      task: taskRecord(row),
      request: queued.request,
      channels: JSON.parse(queued.channels) as string[],
      excluded: JSON.parse(queued.excluded) as string[],
      queuedAt: queued.queued_at,
      waitUntil: queued.wait_until,
    };
  });
  return { started, late };
}

async function lateTasks(trx: Db, now: number, limit: number): Promise<TaskRecord[]> {
  const rows = await trx
    .selectFrom('tasks')
    .select(taskColumns)
    .where('id', 'in', (eb) =>
      eb.selectFrom('task_queue').select('task_id').where('wait_until', '<=', now).limit(limit),
    )
    .where('queued_at', 'is not', null)
    .execute();
  return rows.map(taskRecord);
}

interface OpenTasks {
  channel: string;
  user_id: number;
  tasks: number;
}

/** Counts the unfinished tasks that are not waiting, by channel and user. */
function openTasks(trx: Db, channels: readonly string[]): Promise<OpenTasks[]> {
  return trx
    .selectFrom('tasks')
    .select(['channel', 'user_id', ({ fn }) => fn.countAll<number>().as('tasks')])
    .where('next_poll_at', 'is not', null)
    .where('channel', 'in', channels)
    .groupBy(['channel', 'user_id'])
    .execute();
}

interface Waiting {
  id: number;
  task_id: string;
  user_id: number;
  channels: string;
  excluded: string;
}

/** The first waiting tasks of each user and pool, in the order of creation. */
async function waitingTasks(trx: Db, now: number, limit: number): Promise<Waiting[]> {
  const { rows } = await sql<Waiting>`
    select q.id, q.task_id, q.user_id, q.channels, q.excluded from (
      select id, row_number() over (partition by pool, user_id order by id) as turn from task_queue
      where not_before <= ${now} and wait_until > ${now}
        and task_id in (select id from tasks where queued_at is not null)
    ) as first join task_queue q on q.id = first.id
    where first.turn <= ${limit} order by q.id`.execute(trx);
  return rows;
}

/** How long a turn is remembered, in milliseconds. */
const turnMs = 3_600_000;

async function recordTurns(
  trx: Db,
  waiting: readonly Waiting[],
  picked: readonly Picked[],
  now: number,
): Promise<void> {
  const userOf = new Map(waiting.map(({ task_id: id, user_id: user }) => [id, user]));
  const served = new Map(picked.map(({ id }, index) => [userOf.get(id) ?? 0, now + index]));
  const turns = [...served].map(([userId, servedAt]) => ({ user_id: userId, served_at: servedAt }));
  await trx
    .deleteFrom('queue_turns')
    .where('served_at', '<', now - turnMs)
    .execute();
  await trx
    .insertInto('queue_turns')
    .values(turns)
    .onConflict((conflict) =>
      conflict.column('user_id').doUpdateSet((eb) => ({ served_at: eb.ref('excluded.served_at') })),
    )
    .execute();
}

/** A task to start, and its channel. */
type Picked = { id: string; channel: string };

/** Chooses the tasks to start and their channels. */
function pick(
  waiting: readonly Waiting[],
  {
    channels,
    open,
    servedAt,
    now,
    limit,
  }: Pick<Start, 'channels' | 'now' | 'limit'> & {
    open: readonly OpenTasks[];
    servedAt: ReadonlyMap<number, number>;
  },
): Picked[] {
  const free = new Map(
    channels.map(({ channel, maxTasks, maxStarts }) => {
      const used = sum(open.filter((one) => one.channel === channel));
      return [
        channel,
        Math.min((maxTasks ?? Number.POSITIVE_INFINITY) - used, maxStarts ?? Number.POSITIVE_INFINITY),
      ];
    }),
  );
  const healthy = new Set(channels.filter(({ isHealthy }) => isHealthy).map(({ channel }) => channel));
  const held = new Map<number, number>();
  for (const { user_id: user, tasks } of open) held.set(user, (held.get(user) ?? 0) + tasks);
  const queues = Map.groupBy(waiting, ({ user_id: user }) => user);
  const last = new Map(servedAt);
  const picked: Picked[] = [];
  const channelFor = ({ channels: names, excluded }: Waiting): string | undefined => {
    const failed = JSON.parse(excluded) as string[];
    const possible = (JSON.parse(names) as string[]).filter(
      (name) => (free.get(name) ?? 0) > 0 && !failed.includes(name),
    );
    return possible.find((name) => healthy.has(name)) ?? possible[0];
  };
  while (picked.length < limit && queues.size > 0) {
    const [user] = [...queues.keys()].toSorted(
      (left, right) =>
        (held.get(left) ?? 0) - (held.get(right) ?? 0) ||
        (last.get(left) ?? 0) - (last.get(right) ?? 0) ||
        (queues.get(left)?.[0]?.id ?? 0) - (queues.get(right)?.[0]?.id ?? 0),
    );
    if (user === undefined) break;
    const queue = queues.get(user) ?? [];
    const index = queue.findIndex((one) => channelFor(one) !== undefined);
    const next = queue[index];
    const channel = next && channelFor(next);
    if (next === undefined || channel === undefined) {
      queues.delete(user);
      continue;
    }
    // Those before it have no free channel now, and will have none in this run.
    queues.set(user, queue.slice(index + 1));
    picked.push({ id: next.task_id, channel });
    free.set(channel, (free.get(channel) ?? 0) - 1);
    held.set(user, (held.get(user) ?? 0) + 1);
    last.set(user, now + picked.length);
  }
  return picked;
}

const sum = (rows: readonly OpenTasks[]) => rows.reduce((total, { tasks }) => total + tasks, 0);

/**
 * Returns a claimed task to the queue, because its channel certainly did not take it. False when the claim is not the
 * latest, or the task was accepted.
 */
export async function requeueTask(
  trx: Db,
  {
    id,
    attempt,
    excluded,
    notBefore,
  }: { id: string; attempt: number; excluded: readonly string[]; notBefore: number },
): Promise<boolean> {
  if (!(await returnToQueue(trx, { id, attempt, isRefused: true }))) return false;
  await trx
    .updateTable('task_queue')
    .set({ excluded: JSON.stringify(excluded), not_before: notBefore })
    .where('task_id', '=', id)
    .execute();
  return true;
}

/**
 * Returns a task to the queue whose submission ended before it began. `isRefused`: also if its channel was asked, because
 * it certainly did not take the task. False when it was never in the queue, or the claim is not the latest.
 */
export function returnToQueue(
  trx: Db,
  { id, attempt, isRefused = false }: { id: string; attempt: number; isRefused?: boolean },
): Promise<boolean> {
  const asked = isRefused ? sql`` : sql`and asked_at is null`;
  return affectsRow(
    trx,
    sql`
      update tasks set lease_owner = null, next_poll_at = null, asked_at = null,
        queued_at = (select queued_at from task_queue where task_id = ${id})
      where id = ${id} and attempt = ${attempt} and upstream_id is null and completed_at is null ${asked}
        and exists (select 1 from task_queue where task_id = ${id})`,
  );
}
