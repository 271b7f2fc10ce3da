import { sql } from 'kysely';
import { oneOf } from '../rows.ts';
import type { Db } from '../schema.ts';

/** Place of a task among the tasks that compete with it. */
export interface QueuePosition {
  task_id: string;
  /** From 1. */
  position: number;
  /** JSON array of the names of its channels. */
  channels: string;
}

/** Finds the positions of waiting tasks: each user's first task, then each user's second one, and so on. */
export async function queuePositions(db: Db, ids: readonly string[]): Promise<QueuePosition[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<QueuePosition>`
    select placed.task_id, placed.position, q.channels from (
      select task_id, row_number() over (partition by pool order by turn, id) as position from (
        select task_id, id, pool, row_number() over (partition by pool, user_id order by id) as turn from task_queue
        where pool in (select pool from task_queue where ${oneOf(db, sql`task_id`, ids)})
      ) as turns
    ) as placed join task_queue q on q.task_id = placed.task_id
    where ${oneOf(db, sql`placed.task_id`, ids)}`.execute(db);
  return rows;
}

/** Whether a task waits in the queue. */
export async function hasQueuedTasks(db: Db): Promise<boolean> {
  const row = await db.selectFrom('task_queue').select('id').limit(1).executeTakeFirst();
  return row !== undefined;
}
