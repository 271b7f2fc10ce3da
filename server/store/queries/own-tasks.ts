import { sql } from 'kysely';
import type { Db, TaskFormat, TaskState } from '../schema.ts';
import { refundsOf } from './charges.ts';
import { type FoundTask, tasksOf } from './task-search.ts';
import { areSeen, isSeen, type Viewer } from './visibility.ts';

/** Conditions of a client for the tasks that it sees, of all formats. */
export interface OwnTaskFilter extends Viewer {
  state?: TaskState | undefined;
  model?: string | undefined;
  format?: TaskFormat | undefined;
  /** Epoch milliseconds. `createdBefore` is excluded. */
  createdFrom?: number | undefined;
  createdBefore?: number | undefined;
}

/** A task as a search returns it, with its refund. */
export type OwnTask = FoundTask & { refunded: number };

const formats = ['generic', 'videos', 'native', 'official', 'music', 'image'] as const;

/** Lists the tasks that a viewer sees, the newest first. Undefined when it does not see the task `after`. */
export async function listOwnTasks(
  db: Db,
  { after, limit, ...filter }: OwnTaskFilter & { after?: string | undefined; limit: number },
): Promise<{ tasks: OwnTask[]; hasMore: boolean } | undefined> {
  const last = after === undefined ? undefined : await findPosition(db, filter, after);
  if (after !== undefined && last === undefined) return undefined;
  // The index of owners has the order of one format, so each format contributes at most a page.
  const parts = (filter.format === undefined ? formats : [filter.format]).map((format) => {
    let query = db
      .selectFrom('tasks')
      .select(['id', 'created_at'])
      .where('user_id', '=', filter.userId)
      .where('format', '=', format);
    if (filter.family !== undefined) query = query.where(areSeen(filter, 'tasks.token_id'));
    if (filter.state !== undefined) query = query.where('state', '=', filter.state);
    if (filter.model !== undefined) query = query.where('model', '=', filter.model);
    if (filter.createdFrom !== undefined) query = query.where('created_at', '>=', filter.createdFrom);
    if (filter.createdBefore !== undefined) query = query.where('created_at', '<', filter.createdBefore);
    if (last !== undefined)
      query = query.where((eb) =>
        eb(eb.refTuple('created_at', 'id'), '<', eb.tuple(last.created_at, last.id)),
      );
    return query
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit + 1);
  });
  // One more than the limit shows whether there is another page.
  const { rows } = await sql<{ id: string }>`
    select id from (${sql.join(
      parts.map((part) => sql`select * from (${part}) as part`),
      sql` union all `,
    )}) as page
    order by created_at desc, id desc limit ${limit + 1}`.execute(db);
  const tasks = await tasksOf(db, rows.slice(0, limit));
  return { tasks: await withRefunds(db, tasks), hasMore: rows.length > limit };
}

/** Adds the refunds of tasks. */
export async function withRefunds(db: Db, tasks: readonly FoundTask[]): Promise<OwnTask[]> {
  const refunds = await refundsOf(db, tasks);
  return tasks.map((task) => ({ ...task, refunded: refunds.get(task.request_id) ?? 0 }));
}

function findPosition(db: Db, viewer: Viewer, id: string) {
  return db
    .selectFrom('tasks')
    .select(['id', 'created_at'])
    .where('id', '=', id)
    .where('user_id', '=', viewer.userId)
    .where(isSeen(viewer, 'tasks.token_id'))
    .executeTakeFirst();
}
