import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type HeldSlots, SlotAllocator } from '../../lib/slot-allocator.ts';
import { type TaskRecord, taskColumns, taskRecord } from '../queries/tasks.ts';
import { rowsOf } from '../rows.ts';
import type { Db } from '../schema.ts';
import { isPostgres } from '../statement.ts';
import { addClips, type NewClip } from './clips.ts';
import { addDeliveries, type DeliveredTask } from './deliveries.ts';

/** A claim on tasks, until its gateway releases it or is lost. At `until`, only the same gateway can claim unfinished tasks again. */
interface Claim {
  owner: string;
  now: number;
  until: number;
  /** Tasks that the gateway still works on after `until`. */
  except?: readonly string[];
}

/** Free slots of a channel. */
interface ChannelCapacity {
  channel: string;
  free: number;
  /** Users that hold slots. */
  users: readonly HeldSlots[];
}

/** Claims due tasks, the longest due first. `emptied`: channels without further ones. `nextDueAt`: when a task with a free slot is due. */
export async function claimTasks(
  trx: Db,
  { channels, ...claim }: Claim & { channels: readonly ChannelCapacity[] },
): Promise<{ tasks: TaskRecord[]; emptied: string[]; nextDueAt: number | null }> {
  const all = channels.map(({ channel, free, users }) => ({
    channel,
    slots: new SlotAllocator({ free, held: users }),
  }));
  const tasks: TaskRecord[] = [];
  for (let open = all; open.length > 0; ) {
    const requests = open.map(requestFor).filter(({ slots }) => slots > 0);
    const claimed = await claimDue(trx, claim, requests);
    tasks.push(...claimed);
    const byChannel = Map.groupBy(claimed, ({ channel }) => channel);
    open = open.filter(({ channel, slots }) => {
      const requested = slots.availableToAny;
      const claimedHere = byChannel.get(channel) ?? [];
      for (const { userId } of claimedHere) slots.acquire(userId);
      // More tasks can be due only if the request was fulfilled.
      return requested > 0 && claimedHere.length === requested;
    });
  }
  const free = all.filter(({ slots }) => slots.free > 0);
  const nextDueAt = free.length === 0 ? null : await nextDue(trx, claim, free.map(requestFor));
  const emptied = free.flatMap(({ channel, slots }) => (slots.exhaustedUsers.length > 0 ? [] : channel));
  return { tasks, emptied, nextDueAt };
}

/** A request for due tasks of a channel: as many as any user can have, except of users that can acquire no more slots. */
type ClaimRequest = {
  channel: string;
  slots: number;
  /** JSON array of user ids. */
  excludedUsers: string;
};

const requestFor = ({ channel, slots }: { channel: string; slots: SlotAllocator }): ClaimRequest => ({
  channel,
  slots: slots.availableToAny,
  excludedUsers: JSON.stringify(slots.exhaustedUsers),
});

/** Claims with one statement on PostgreSQL, to save round trips. SQLite has no lateral join, and runs a statement for each channel. */
async function claimDue(trx: Db, claim: Claim, requests: readonly ClaimRequest[]): Promise<TaskRecord[]> {
  if (requests.length === 0) return [];
  if (isPostgres(trx)) {
    const due = dueTasks(trx, claim)
      .where(sql<SqlBool>`channel = r.channel`)
      .where(sql<SqlBool>`user_id not in (select json_array_elements_text(r.excluded_users::json)::bigint)`)
      .orderBy('next_poll_at')
      .limit(sql<number>`r.slots`)
      .forUpdate()
      .skipLocked();
    const rows = rowsOf(trx, requests);
    return claimThese(trx, claim, sql`(select d.due_id from ${rows} as r cross join lateral (${due}) as d)`);
  }
  const claimed: TaskRecord[] = [];
  for (const { channel, slots, excludedUsers: excluded } of requests) {
    const users = JSON.parse(excluded) as number[];
    const due = dueTasks(trx, claim)
      .where('channel', '=', channel)
      .$if(users.length > 0, (query) => query.where('user_id', 'not in', users))
      .orderBy('next_poll_at')
      .limit(slots);
    claimed.push(...(await claimThese(trx, claim, sql`${due}`)));
  }
  return claimed;
}

/** When the next task of some channels is due, except those of excluded users. */
async function nextDue(
  trx: Db,
  { owner, except = [] }: Claim,
  requests: readonly ClaimRequest[],
): Promise<number | null> {
  const users = isPostgres(trx)
    ? sql`select json_array_elements_text(r.excluded_users::json)::bigint`
    : sql`select value from json_each(r.excluded_users)`;
  const others = except.length === 0 ? sql`` : sql`and id not in (${sql.join(except)})`;
  const result = await sql<{ due: number | null }>`
    select min(due) as due from (
      select (
        select min(next_poll_at) from tasks
        where channel = r.channel and next_poll_at is not null and (lease_owner is null or lease_owner = ${owner})
          and user_id not in (${users}) ${others}
      ) as due from ${rowsOf(trx, requests)} as r
    ) as next`.execute(trx);
  return result.rows[0]?.due ?? null;
}

/** Claims tasks past their deadline whose channels do not exist any more, so that no other claim finds them. */
export function claimStrandedTasks(
  trx: Db,
  { channels, limit, ...claim }: Claim & { channels: readonly string[]; limit: number },
): Promise<TaskRecord[]> {
  const due = dueTasks(trx, claim)
    .where('deadline_at', '<=', claim.now)
    .$if(channels.length > 0, (query) => query.where('channel', 'not in', channels))
    .orderBy('next_poll_at')
    .limit(limit)
    .$if(isPostgres(trx), (query) => query.forUpdate().skipLocked());
  return claimThese(trx, claim, sql`${due}`);
}

/** Due tasks that no other gateway has claimed. */
function dueTasks(db: Db, { owner, now, except = [] }: Claim) {
  return db
    .selectFrom('tasks')
    .select('id as due_id')
    .where('next_poll_at', '<=', now)
    .where((eb) => eb.or([eb('lease_owner', 'is', null), eb('lease_owner', '=', owner)]))
    .$if(except.length > 0, (query) => query.where('id', 'not in', except));
}

async function claimThese(
  trx: Db,
  { owner, until }: Claim,
  due: RawBuilder<{ due_id: string }>,
): Promise<TaskRecord[]> {
  const rows = await trx
    // Materialized, since a subquery that runs again for each row would exceed its limit.
    .with(
      (cte) => cte('due').materialized(),
      () => due,
    )
    .updateTable('tasks')
    .from('due')
    .whereRef('tasks.id', '=', 'due.due_id')
    .set(({ eb }) => ({ lease_owner: owner, next_poll_at: until, attempt: eb('attempt', '+', 1) }))
    .returning(taskColumns)
    .execute();
  return rows.map(taskRecord);
}

/** Claims one task before it is due. Undefined when it is final or has been claimed in the meantime. */
export async function claimTask(
  trx: Db,
  { id, attempt, owner, until }: Pick<Claim, 'owner' | 'until'> & { id: string; attempt: number },
): Promise<TaskRecord | undefined> {
  const row = await trx
    .updateTable('tasks')
    .set({ lease_owner: owner, next_poll_at: until, attempt: attempt + 1 })
    .where('id', '=', id)
    .where('attempt', '=', attempt)
    .where('next_poll_at', 'is not', null)
    .where('lease_owner', 'is', null)
    .returning(taskColumns)
    .executeTakeFirst();
  return row === undefined ? undefined : taskRecord(row);
}

/** The result of a poll of a task that is not final. */
export interface TaskPoll {
  id: string;
  attempt: number;
  state: 'queued' | 'in_progress';
  progress: number;
  /** JSON object; null: unchanged. */
  result: string | null;
  failures: number;
  pollInterval: number;
  /** Null: unchanged, since the provider reported nothing. */
  polledAt: number | null;
  nextPollAt: number;
  now: number;
  /** The clips of a music task so far. */
  clips?: readonly NewClip[] | undefined;
}

type UpdatedTask = Omit<DeliveredTask, 'error' | 'due'> &
  Pick<TaskRecord, 'startedAt' | 'userId' | 'channel'>;

/** Records the results of polls and releases their tasks. Returns for each whether its claim was still the latest. */
export async function recordPolls(trx: Db, polls: readonly TaskPoll[]): Promise<boolean[]> {
  if (polls.length === 0) return [];
  const results = polls.map(({ clips: _, ...poll }) => poll);
  // Forward only, whatever the provider reports: a running task does not queue again, and progress does not fall.
  const { rows } = await sql<UpdatedTask>`
    update tasks set
      updated_at = case when tasks.progress < poll.progress
        or (tasks.state = 'queued' and poll.state = 'in_progress') then poll.now else tasks.updated_at end,
      started_at = case when tasks.started_at is null and poll.state = 'in_progress' then poll.now
        else tasks.started_at end,
      state = case when tasks.state = 'queued' then poll.state else tasks.state end,
      progress = case when tasks.progress < poll.progress then poll.progress else tasks.progress end,
      result = coalesce(poll.result, tasks.result),
      failures = poll.failures,
      poll_interval = poll.poll_interval,
      polled_at = coalesce(poll.polled_at, tasks.polled_at),
      next_poll_at = poll.next_poll_at,
      lease_owner = null
    from ${rowsOf(trx, results)} as poll
    where tasks.id = poll.id and tasks.attempt = poll.attempt and tasks.state in ('queued', 'in_progress')
    returning tasks.id, tasks.format, tasks.driver, tasks.state, tasks.callback_url as "callbackUrl",
      tasks.updated_at as "updatedAt", tasks.started_at as "startedAt", tasks.user_id as "userId",
      tasks.channel`.execute(trx);
  const updated = new Map(rows.map((row) => [row.id, row]));
  const withClips = polls.flatMap(({ id, clips }) => {
    const row = updated.get(id);
    return row === undefined || clips === undefined ? [] : [{ ...row, clips }];
  });
  await addClips(trx, withClips);
  // `started_at` is the time of this poll only if this poll started the task.
  const started = polls.flatMap(({ id, now, polledAt, nextPollAt }) => {
    const row = updated.get(id);
    const isFirst = row?.state === 'in_progress' && row.startedAt === now;
    return isFirst ? [{ ...row, error: null, due: polledAt ?? nextPollAt }] : [];
  });
  await addDeliveries(trx, started);
  return polls.map(({ id }) => updated.has(id));
}
