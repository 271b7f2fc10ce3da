import { type ExpressionBuilder, type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { type TaskRecord, taskColumns, taskRecord } from '../queries/tasks.ts';
import { type ColumnType, rowsOf } from '../rows.ts';
import type { Database } from '../schema.ts';
import { type HeldSlots, SlotAllocator } from '../slot-allocator.ts';
import { isPostgres, type SqlValue } from '../statement.ts';
import { addClips, type NewClip } from './clips.ts';
import type { Command } from './command.ts';
import { addDeliveries, type DeliveredTask } from './deliveries.ts';

/**
 * A lease lasts until its gateway ends it or is gone, whatever any clock says; only to that gateway itself does
 * `until` mean something: what it has not done by then, it takes up again.
 */
interface Lease {
  owner: string;
  now: number;
  until: number;
  /** Tasks that the gateway is still at work on although the time is over. */
  except?: readonly string[];
}

export interface TaskClaim extends Lease {
  shares: readonly ChannelShare[];
}

/** The places of one channel. */
export interface ChannelShare {
  channel: string;
  free: number;
  /** Users with steps under way. */
  users: readonly HeldSlots[];
}

/**
 * Takes due tasks of all channels, the longest due first; two processes never get the same one. A user gets no more places than
 * are left free. `emptied` are the channels of which all that was due was taken; `nextDueAt` is when the next task is
 * due that there is a place for.
 */
export const claimTasks: Command<
  TaskClaim,
  { tasks: TaskRecord[]; emptied: string[]; nextDueAt: number | null }
> = async (trx, { shares, ...lease }) => {
  const places = new Map(shares.map((share) => [share.channel, new Places(share)]));
  const tasks: TaskRecord[] = [];
  for (let wanting = [...places.values()]; wanting.length > 0; ) {
    const wishes = wanting.flatMap((one) => one.wish() ?? []);
    const taken = await takeDue(trx, lease, wishes);
    for (const task of taken) places.get(task.channel)?.take(task);
    tasks.push(...taken);
    wanting = wanting.filter((one) => one.goesOn());
  }
  const open = [...places.values()].filter(({ free }) => free > 0);
  const nextDueAt = open.length === 0 ? null : await nextDue(trx, lease, open);
  return { tasks, emptied: open.flatMap(({ channel, full }) => (full.length > 0 ? [] : channel)), nextDueAt };
};

/** What is to be taken of a channel in one go. */
interface Wish extends Record<string, SqlValue> {
  channel: string;
  most: number;
  /** JSON array of users of whom nothing is taken. */
  barred: string;
}

/** The slots of a channel while a claim assigns them. */
class Places {
  readonly channel: string;
  readonly #slots: SlotAllocator;
  #limit = 0;
  #taken = 0;

  constructor({ channel, free, users }: ChannelShare) {
    this.channel = channel;
    this.#slots = new SlotAllocator({ free, held: users });
  }

  get free(): number {
    return this.#slots.free;
  }

  /** The users of whom there may be more due than they have slots for. */
  get full(): number[] {
    return this.#slots.exhaustedUsers;
  }

  wish(): Wish | undefined {
    this.#limit = this.#slots.availableToAny;
    this.#taken = 0;
    if (this.#limit === 0) return undefined;
    return { channel: this.channel, most: this.#limit, barred: JSON.stringify(this.full) };
  }

  take({ userId }: TaskRecord): void {
    this.#slots.acquire(userId);
    this.#taken += 1;
  }

  /** Whether there may be more to take after the latest wish. */
  goesOn(): boolean {
    return this.#limit > 0 && this.#taken === this.#limit;
  }
}

const wishColumns = { channel: 'text', most: 'integer', barred: 'text' } as const;

/** In one statement on PostgreSQL, where each is a round trip; SQLite, which has no lateral join, takes one for each channel. */
async function takeDue(trx: Kysely<Database>, lease: Lease, wishes: readonly Wish[]): Promise<TaskRecord[]> {
  if (wishes.length === 0) return [];
  if (isPostgres(trx)) {
    return take(trx, lease, (due) => {
      const own = due
        .where(sql<SqlBool>`channel = w.channel`)
        .where(sql<SqlBool>`user_id not in (select json_array_elements_text(w.barred::json)::bigint)`)
        .orderBy('next_poll_at')
        .limit(sql<number>`w.most`)
        .forUpdate()
        .skipLocked();
      return sql<{ due_id: string }>`
        (select d.due_id from ${rowsOf(trx, wishColumns, wishes)} as w cross join lateral (${own}) as d)`;
    });
  }
  const taken: TaskRecord[] = [];
  for (const { channel, most, barred } of wishes) {
    const users = JSON.parse(barred) as number[];
    taken.push(
      ...(await take(trx, lease, (due) => {
        const own = due.where('channel', '=', channel).orderBy('next_poll_at').limit(most);
        return sql`${users.length === 0 ? own : own.where('user_id', 'not in', users)}`;
      })),
    );
  }
  return taken;
}

/** When the next task of some channels is due, without those of users who are full there. */
async function nextDue(
  trx: Kysely<Database>,
  { owner, except = [] }: Lease,
  open: readonly Places[],
): Promise<number | null> {
  const rows = open.map(({ channel, full }) => ({ channel, most: 0, barred: JSON.stringify(full) }));
  const users = isPostgres(trx)
    ? sql`select json_array_elements_text(w.barred::json)::bigint`
    : sql`select value from json_each(w.barred)`;
  const busy = except.length === 0 ? sql`` : sql`and id not in (${sql.join(except)})`;
  const result = await sql<{ due: number | null }>`
    select min(due) as due from (
      select (
        select min(next_poll_at) from tasks
        where channel = w.channel and next_poll_at is not null and (lease_owner is null or lease_owner = ${owner})
          and user_id not in (${users}) ${busy}
      ) as due from ${rowsOf(trx, wishColumns, rows)} as w
    ) as next`.execute(trx);
  return result.rows[0]?.due ?? null;
}

/** Nobody is at work on it. */
function freeFor({ owner, except = [] }: Lease) {
  return (eb: ExpressionBuilder<Database, 'tasks'>) => {
    const free = eb.or([eb('lease_owner', 'is', null), eb('lease_owner', '=', owner)]);
    return except.length === 0 ? free : eb.and([free, eb('id', 'not in', except)]);
  };
}

/** Takes tasks that are past their deadline and belong to none of these channels: nobody else will end them. */
export const claimStrandedTasks: Command<
  Lease & { channels: readonly string[]; limit: number },
  TaskRecord[]
> = (trx, { channels, limit, ...lease }) =>
  take(trx, lease, (due) => {
    const late = due
      .where('deadline_at', '<=', lease.now)
      .$if(channels.length > 0, (query) => query.where('channel', 'not in', channels))
      .orderBy('next_poll_at')
      .limit(limit)
      .$if(isPostgres(trx), (query) => query.forUpdate().skipLocked());
    return sql`${late}`;
  });

type DueTasks = ReturnType<typeof dueTasks>;

function dueTasks(db: Kysely<Database>, lease: Lease) {
  const due = db.selectFrom('tasks').select('id as due_id').where('next_poll_at', '<=', lease.now);
  return due.where(freeFor(lease));
}

async function take(
  trx: Kysely<Database>,
  lease: Lease,
  among: (due: DueTasks) => RawBuilder<{ due_id: string }>,
): Promise<TaskRecord[]> {
  const due = among(dueTasks(trx, lease));
  const rows = await trx
    // Materialized: run again for every row, it would take more than its limit.
    .with(
      (cte) => cte('due').materialized(),
      () => due,
    )
    .updateTable('tasks')
    .from('due')
    .whereRef('tasks.id', '=', 'due.due_id')
    .set(({ eb }) => ({
      lease_owner: lease.owner,
      next_poll_at: lease.until,
      attempt: eb('attempt', '+', 1),
    }))
    .returning(taskColumns)
    .execute();
  return rows.map(taskRecord);
}

/** Takes one task ahead of its time. Undefined when it was claimed since, or is final. */
export const claimTask: Command<
  Pick<Lease, 'owner' | 'until'> & { id: string; attempt: number },
  TaskRecord | undefined
> = async (trx, { id, attempt, owner, until }) => {
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
};

/** What a poll found of a task that is not final. */
export type TaskPoll = PollRow & {
  /** What it has made so far, if it makes clips. */
  clips?: readonly NewClip[] | undefined;
};

type PollRow = {
  id: string;
  attempt: number;
  state: 'queued' | 'in_progress';
  progress: number;
  /** JSON object; null keeps the latest. */
  result: string | null;
  failures: number;
  pollInterval: number;
  /** Null keeps the latest: nothing was learned. */
  polledAt: number | null;
  nextPollAt: number;
  now: number;
};

const pollColumns = {
  id: 'text',
  attempt: 'integer',
  state: 'text',
  progress: 'integer',
  result: 'text',
  failures: 'integer',
  poll_interval: 'integer',
  polled_at: 'bigint',
  next_poll_at: 'bigint',
  now: 'bigint',
} as const satisfies Record<string, ColumnType>;

type Written = Omit<DeliveredTask, 'error' | 'due'> & Pick<TaskRecord, 'startedAt' | 'userId' | 'channel'>;

/** Writes what polls found and frees their tasks. Says for each whether its claim was still the latest. */
export const recordPolls: Command<readonly TaskPoll[], boolean[]> = async (trx, polls) => {
  const found = polls.map(({ clips: _, pollInterval, polledAt, nextPollAt, ...poll }) => ({
    ...poll,
    poll_interval: pollInterval,
    polled_at: polledAt,
    next_poll_at: nextPollAt,
  }));
  // Forward only, whatever the upstream says: a running task does not queue again, and progress does not fall.
  const { rows } = await sql<Written>`
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
    from ${rowsOf(trx, pollColumns, found)} as poll
    where tasks.id = poll.id and tasks.attempt = poll.attempt and tasks.state in ('queued', 'in_progress')
    returning tasks.id, tasks.format, tasks.driver, tasks.state, tasks.callback_url as "callbackUrl",
      tasks.updated_at as "updatedAt", tasks.started_at as "startedAt", tasks.user_id as "userId",
      tasks.channel`.execute(trx);
  const written = new Map(rows.map((row) => [row.id, row]));
  const made = polls.flatMap(({ id, clips }) => {
    const row = written.get(id);
    return row === undefined || clips === undefined ? [] : [{ ...row, clips }];
  });
  await addClips(trx, made);
  // Only the poll that began it set this time.
  const begun = polls.flatMap(({ id, now, polledAt, nextPollAt }) => {
    const row = written.get(id);
    const first = row?.state === 'in_progress' && row.startedAt === now;
    return first ? [{ ...row, error: null, due: polledAt ?? nextPollAt }] : [];
  });
  await addDeliveries(trx, begun);
  return polls.map(({ id }) => written.has(id));
};

/** Makes tasks under a lease due at once: those of one owner, or with null of all that are gone. Says how many. */
export const releaseTasks: Command<{ owner: string | null; now: number }, number> = async (
  trx,
  { owner, now },
) => {
  const { numUpdatedRows } = await trx
    .updateTable('tasks')
    .set(({ eb }) => ({ lease_owner: null, next_poll_at: now, attempt: eb('attempt', '+', 1) }))
    .where('next_poll_at', 'is not', null)
    .where('lease_owner', 'is not', null)
    .where(({ eb, not, exists, selectFrom }) =>
      owner === null
        ? not(exists(selectFrom('gateways').select('id').whereRef('gateways.id', '=', 'tasks.lease_owner')))
        : eb('lease_owner', '=', owner),
    )
    .executeTakeFirst();
  return Number(numUpdatedRows);
};

/** Makes due what nobody is at work on and is due only later than that. */
export const repairDueTasks: Command<{ now: number; after: number }, number> = async (
  trx,
  { now, after },
) => {
  const { numUpdatedRows } = await trx
    .updateTable('tasks')
    .set({ next_poll_at: now })
    .where('next_poll_at', '>', after)
    .where('lease_owner', 'is', null)
    .executeTakeFirst();
  return Number(numUpdatedRows);
};
