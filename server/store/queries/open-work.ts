import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema.ts';

/** What waits in the store. Due times are by the clock of due times; null: nothing is due. */
export interface OpenWork {
  tasks: { queued: number; in_progress: number };
  /** When the longest due task was due that nobody is at work on. */
  taskDueAt: number | null;
  deliveries: number;
  deliveryDueAt: number | null;
}

/** Counts what is not over. It reads the indexes of due work, whose size is that of what is open. */
export async function countOpenWork(db: Kysely<Database>): Promise<OpenWork> {
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
  const countOf = (state: string) => tasks.find((row) => row.state === state)?.count ?? 0;
  const due = tasks.flatMap(({ due_at }) => due_at ?? []);
  return {
    tasks: { queued: countOf('queued'), in_progress: countOf('in_progress') },
    taskDueAt: due.length === 0 ? null : Math.min(...due),
    deliveries: deliveries.count,
    deliveryDueAt: deliveries.due_at,
  };
}
