import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { columnNames } from '../columns.ts';
import { dayOf, onDaysAmong } from '../log-days.ts';
import type { Db, DeliveriesTable, TaskFormat, TaskState, TasksTable } from '../schema.ts';
import { allOf, countRows, equalities } from '../statement.ts';

/** Conditions of an operator for tasks of all users. */
export interface TaskSearch {
  id?: string | undefined;
  userId?: number | undefined;
  tokenId?: number | undefined;
  state?: TaskState | undefined;
  model?: string | undefined;
  channel?: string | undefined;
  format?: TaskFormat | undefined;
  driver?: string | undefined;
  errorCode?: string | undefined;
  /** Whether a provider is known to have it. */
  upstream?: boolean | undefined;
  /** Epoch milliseconds. `createdBefore` is excluded. */
  createdFrom?: number | undefined;
  createdBefore?: number | undefined;
  offset: number;
  limit: number;
}

const columns = columnNames(
  't.id, t.request_id, t.user_id, t.token_id, t.operation, t.format, t.driver, t.model, t.unit, t.channel',
  't.upstream_id, t.state, t.progress, t.error_code, t.error_message, t.expected_units, t.callback_url, t.created_at',
  't.updated_at, t.started_at, t.completed_at, t.deadline_at, t.polled_at, t.next_poll_at, t.failures',
  't.lease_owner, t.attempt',
);

type Column<Name> = Name extends `t.${infer Rest}` ? Rest : never;

/** A task for an operator, with its charge and its latest delivery, without its request and its result. */
export type FoundTask = Pick<TasksTable, Column<(typeof columns)[number]>> & {
  /** Null if the key does not exist any more. */
  token_name: string | null;
  /** Null after retention has deleted the log entry. */
  reserved: number | null;
  /** Null before the end, and after retention has deleted the log entry. */
  charged: number | null;
  /** Null: no delivery so far. */
  delivery: 'open' | NonNullable<DeliveriesTable['outcome']> | null;
};

/** Returns a page of tasks, the newest first, and the number of tasks on all pages. Reads only an index to find the page. */
export async function searchTasks(
  db: Db,
  { offset, limit, ...filter }: TaskSearch,
): Promise<{ tasks: FoundTask[]; total: number }> {
  const found = db.selectFrom('tasks').where(matches(filter));
  const total = await countRows(found);
  if (offset >= total) return { tasks: [], total };
  const ordered = found.select('id').orderBy('created_at', 'desc').orderBy('id', 'desc');
  const page = await ordered.offset(offset).limit(limit).execute();
  const tasks = await tasksOf(db, page);
  return { tasks, total: Math.max(total, offset + tasks.length) };
}

/** Finds a task, as a search returns it. */
export async function findShownTask(db: Db, id: string): Promise<FoundTask | undefined> {
  return (await tasksOf(db, [{ id }]))[0];
}

/** Reads tasks by their ids, the newest first. */
export async function tasksOf(db: Db, page: readonly { id: string }[]): Promise<FoundTask[]> {
  if (page.length === 0) return [];
  const ids = page.map(({ id }) => id);
  const tasks = await db
    .selectFrom('tasks as t')
    .leftJoin('ledger as l', 'l.request_id', 't.request_id')
    .leftJoin('tokens as k', 'k.id', 't.token_id')
    .select(columns)
    .select(['k.name as token_name', 'l.reserved'])
    .select(sql<null>`null`.as('charged'))
    .select((eb) =>
      eb
        .selectFrom('deliveries as d')
        .select(sql<FoundTask['delivery']>`coalesce(d.outcome, 'open')`.as('delivery'))
        .whereRef('d.task_id', '=', 't.id')
        .orderBy('d.id', 'desc')
        .limit(1)
        .as('delivery'),
    )
    .where('t.id', 'in', ids)
    .orderBy('t.created_at', 'desc')
    .orderBy('t.id', 'desc')
    .execute();
  const entries = await entriesOf(db, tasks);
  return tasks.map((task) => ({ ...task, ...entries.get(task.request_id) }));
}

/** Log entries of the finished tasks, by request id. An entry is of the day on which its task ended. */
async function entriesOf(db: Db, tasks: readonly FoundTask[]) {
  const ended = tasks.filter(({ reserved, completed_at: at }) => reserved === null && at !== null);
  if (ended.length === 0) return new Map<string, { reserved: number; charged: number }>();
  const ids = ended.map(({ request_id: id }) => id);
  const days = ended.map(({ completed_at: at }) => dayOf(at ?? 0));
  const entries = await db
    .selectFrom('request_log')
    .select(['request_id', 'reserved', 'quota as charged'])
    .where('request_id', 'in', ids)
    .where(onDaysAmong(db, days))
    .execute();
  return new Map(entries.map(({ request_id: id, ...entry }) => [id, entry]));
}

function matches(filter: Omit<TaskSearch, 'offset' | 'limit'>): RawBuilder<SqlBool> {
  const { id, state, model, channel, format, driver, errorCode, upstream } = filter;
  const { userId, tokenId, createdFrom, createdBefore } = filter;
  const all = equalities({ id, state, model, channel, format, driver, error_code: errorCode });
  // The sign keeps engines from using the index of owners, which has too few columns.
  if (userId !== undefined) all.push(sql`+user_id = ${userId}`);
  if (tokenId !== undefined) all.push(sql`+token_id = ${tokenId}`);
  if (upstream !== undefined) all.push(upstream ? sql`upstream_id is not null` : sql`upstream_id is null`);
  if (createdFrom !== undefined) all.push(sql`created_at >= ${createdFrom}`);
  if (createdBefore !== undefined) all.push(sql`created_at < ${createdBefore}`);
  return allOf(all);
}
