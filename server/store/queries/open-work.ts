import { sql } from 'kysely';
import type { Db } from '../schema.ts';

/** Open tasks and deliveries. Due times are by the clock of due times; null: no unclaimed work. */
export interface OpenWork {
  tasks: { queued: number; in_progress: number };
  /** Tasks that wait for a place within the limits of a channel. They are queued, too. */
  waiting: number;
  /** Earliest due time of an unclaimed task. */
  taskDueAt: number | null;
  deliveries: number;
  deliveryDueAt: number | null;
}

/** Counts open work. Reads only the indexes of open tasks and deliveries. */
export async function countOpenWork(db: Db): Promise<OpenWork> {
  const tasks = await db
    .selectFrom('tasks')
    .select(['state', ({ fn }) => fn.countAll<number>().as('count')])
    .select(sql<number | null>`min(case when lease_owner is null then next_poll_at end)`.as('due_at'))
    .where('next_poll_at', 'is not', null)
    .groupBy('state')
    .execute();
  const deliveries = await db
    .selectFrom('deliveries')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .select(sql<number | null>`min(case when lease_owner is null then next_try_at end)`.as('due_at'))
    .where('next_try_at', 'is not', null)
    .executeTakeFirstOrThrow();
  const { waiting } = await db
    .selectFrom('task_queue')
    .innerJoin('tasks', 'tasks.id', 'task_queue.task_id')
    .where('tasks.queued_at', 'is not', null)
    .select(({ fn }) => fn.countAll<number>().as('waiting'))
    .executeTakeFirstOrThrow();
  const countOf = (state: string) => tasks.find((row) => row.state === state)?.count ?? 0;
  const due = tasks.flatMap(({ due_at }) => due_at ?? []);
  return {
    tasks: { queued: countOf('queued') + waiting, in_progress: countOf('in_progress') },
    waiting,
    taskDueAt: due.length === 0 ? null : Math.min(...due),
    deliveries: deliveries.count,
    deliveryDueAt: deliveries.due_at,
  };
}
