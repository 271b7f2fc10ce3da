import { type Kysely, PostgresAdapter } from 'kysely';
import { type TaskRecord, taskColumns, taskRecord } from '../queries/tasks.ts';
import type { Database } from '../schema.ts';
import { statement } from '../statement.ts';
import type { Command } from './command.ts';

interface Lease {
  owner: string;
  now: number;
  until: number;
}

export interface TaskClaim extends Lease {
  /** At the most so many tasks of each channel. */
  lanes: readonly { channel: string; limit: number }[];
}

/**
 * Takes due tasks, the longest due first; two processes never get the same one. `nextDueAt` is when the next task
 * of the lanes that had less than their limit is due.
 */
export const claimTasks: Command<TaskClaim, { tasks: TaskRecord[]; nextDueAt: number | null }> = async (
  trx,
  { lanes, ...lease },
) => {
  const tasks: TaskRecord[] = [];
  let nextDueAt: number | null = null;
  for (const { channel, limit } of lanes) {
    const claimed = await take(trx, lease, limit, (due) => due.where('channel', '=', channel));
    tasks.push(...claimed);
    if (claimed.length === limit) continue;
    const next = (await earliest(trx, { channel })).rows[0]?.due ?? null;
    if (next !== null) nextDueAt = Math.min(nextDueAt ?? next, next);
  }
  return { tasks, nextDueAt };
};

const earliest = statement<{ channel: string }, { due: number | null }>()`
  select min(next_poll_at) as due from tasks where channel = ${'channel'} and next_poll_at is not null`;

/** Takes tasks that are past their deadline and belong to none of these channels: nobody else will end them. */
export const claimStrandedTasks: Command<
  Lease & { channels: readonly string[]; limit: number },
  TaskRecord[]
> = (trx, { channels, limit, ...lease }) =>
  take(trx, lease, limit, (due) => {
    const late = due.where('deadline_at', '<=', lease.now);
    return channels.length === 0 ? late : late.where('channel', 'not in', channels);
  });

type DueTasks = ReturnType<typeof dueTasks>;

function dueTasks(db: Kysely<Database>, now: number) {
  return db.selectFrom('tasks').select('id as due_id').where('next_poll_at', '<=', now);
}

async function take(
  trx: Kysely<Database>,
  lease: Lease,
  limit: number,
  among: (due: DueTasks) => DueTasks,
): Promise<TaskRecord[]> {
  const postgres = trx.getExecutor().adapter instanceof PostgresAdapter;
  const due = among(dueTasks(trx, lease.now))
    .orderBy('next_poll_at')
    .limit(limit)
    .$if(postgres, (query) => query.forUpdate().skipLocked());
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

/**
 * Takes one task ahead of its time, or with `renew` for longer than it is taken already. Undefined when it was
 * claimed since, or is final.
 */
export const claimTask: Command<
  Lease & { id: string; attempt: number; renew?: boolean },
  TaskRecord | undefined
> = async (trx, { id, attempt, owner, now, until, renew = false }) => {
  const row = await trx
    .updateTable('tasks')
    .set({ lease_owner: owner, next_poll_at: until, attempt: attempt + 1 })
    .where('id', '=', id)
    .where('attempt', '=', attempt)
    .where('next_poll_at', 'is not', null)
    .where((eb) =>
      renew
        ? eb('lease_owner', '=', owner)
        : eb.or([eb('lease_owner', 'is', null), eb('next_poll_at', '<=', now)]),
    )
    .returning(taskColumns)
    .executeTakeFirst();
  return row === undefined ? undefined : taskRecord(row);
};

/** What a poll found of a task that is not final. */
export type TaskPoll = {
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

// Forward only, whatever the upstream says: a running task does not queue again, and progress does not fall.
const record = statement<TaskPoll>()`
  update tasks set
    updated_at = case when progress < ${'progress'} or (state = 'queued' and ${'state'} = 'in_progress')
      then ${'now'} else updated_at end,
    started_at = case when started_at is null and ${'state'} = 'in_progress' then ${'now'} else started_at end,
    state = case when state = 'queued' then ${'state'} else state end,
    progress = case when progress < ${'progress'} then ${'progress'} else progress end,
    result = coalesce(${'result'}, result),
    failures = ${'failures'},
    poll_interval = ${'pollInterval'},
    polled_at = coalesce(${'polledAt'}, polled_at),
    next_poll_at = ${'nextPollAt'},
    lease_owner = null
  where id = ${'id'} and attempt = ${'attempt'} and state in ('queued', 'in_progress')`;

/** Writes what polls found and frees their tasks. Says for each whether its claim was still the latest. */
export const recordPolls: Command<readonly TaskPoll[], boolean[]> = async (trx, polls) => {
  const written: boolean[] = [];
  for (const poll of polls) written.push((await record(trx, poll)).numAffectedRows === 1n);
  return written;
};

/** Makes tasks under a lease due at once: those of one owner, or all when it is null. Says how many. */
export const releaseTasks: Command<{ owner: string | null; now: number }, number> = async (
  trx,
  { owner, now },
) => {
  const { numUpdatedRows } = await trx
    .updateTable('tasks')
    .set(({ eb }) => ({ lease_owner: null, next_poll_at: now, attempt: eb('attempt', '+', 1) }))
    .where('next_poll_at', 'is not', null)
    .where('lease_owner', owner === null ? 'is not' : '=', owner)
    .executeTakeFirst();
  return Number(numUpdatedRows);
};
