import { type Expression, type Kysely, type SqlBool, sql } from 'kysely';
import { dayOf, onDaysAmong } from '../log-days.ts';
import type { Database, DeliveriesTable, TaskFormat, TaskState, TasksTable } from '../schema.ts';

/** Which tasks an operator looks for, whoever owns them; what is left out does not matter. */
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
  /** Whether an upstream is known to have it. */
  upstream?: boolean | undefined;
  /** Epoch milliseconds: from the first, before the second. */
  createdFrom?: number | undefined;
  createdBefore?: number | undefined;
  offset: number;
  limit: number;
}

const columns = [
  't.id',
  't.request_id',
  't.user_id',
  't.token_id',
  't.operation',
  't.format',
  't.driver',
  't.model',
  't.unit',
  't.channel',
  't.upstream_id',
  't.state',
  't.progress',
  't.error_code',
  't.error_message',
  't.expected_units',
  't.callback_url',
  't.created_at',
  't.updated_at',
  't.started_at',
  't.completed_at',
  't.deadline_at',
  't.polled_at',
  't.next_poll_at',
  't.failures',
  't.lease_owner',
  't.attempt',
] as const;

type Column<Name> = Name extends `t.${infer Rest}` ? Rest : never;

/** A task as an operator is shown it, with its books and its latest delivery: nothing of the request or its result. */
export type FoundTask = Pick<TasksTable, Column<(typeof columns)[number]>> & {
  /** Null where the key is there no more. */
  token_name: string | null;
  /** Null after retention has deleted the log entry. */
  reserved: number | null;
  /** Null before the end, and after retention has deleted the log entry. */
  charged: number | null;
  /** Null: no delivery so far. */
  delivery: 'open' | NonNullable<DeliveriesTable['outcome']> | null;
};

/** A page of tasks, newest first, and how many there are on all pages. It looks at an index alone until it knows its page. */
export async function searchTasks(
  db: Kysely<Database>,
  { offset, limit, ...filter }: TaskSearch,
): Promise<{ tasks: FoundTask[]; total: number }> {
  const found = db.selectFrom('tasks').where(matches(filter));
  const { total } = await found
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  if (offset >= total) return { tasks: [], total };
  const page = await found
    .select('id')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .offset(offset)
    .limit(limit)
    .execute();
  const tasks = await tasksById(
    db,
    page.map(({ id }) => id),
  );
  return { tasks, total: Math.max(total, offset + tasks.length) };
}

/** The one task of that id, as a search shows it. */
export async function findShownTask(db: Kysely<Database>, id: string): Promise<FoundTask | undefined> {
  return (await tasksById(db, [id]))[0];
}

/** Newest first. */
async function tasksById(db: Kysely<Database>, ids: readonly string[]): Promise<FoundTask[]> {
  if (ids.length === 0) return [];
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
async function entriesOf(db: Kysely<Database>, tasks: readonly FoundTask[]) {
  const over = tasks.flatMap(({ request_id: id, reserved, completed_at: at }) =>
    reserved === null && at !== null ? [{ id, day: dayOf(at) }] : [],
  );
  if (over.length === 0) return new Map<string, { reserved: number; charged: number }>();
  const entries = await db
    .selectFrom('request_log')
    .select(['request_id', 'reserved', 'quota as charged'])
    .where(
      'request_id',
      'in',
      over.map(({ id }) => id),
    )
    .where(
      onDaysAmong(
        db,
        over.map(({ day }) => day),
      ),
    )
    .execute();
  return new Map(entries.map(({ request_id: id, ...books }) => [id, books]));
}

function matches(filter: Omit<TaskSearch, 'offset' | 'limit'>): Expression<SqlBool> {
  const { id, state, model, channel, format, driver, errorCode, upstream } = filter;
  const { userId, tokenId, createdFrom, createdBefore } = filter;
  const equal = { id, state, model, channel, format, driver, error_code: errorCode };
  const all = Object.entries(equal).flatMap(([column, value]) =>
    value === undefined ? [] : [sql<SqlBool>`${sql.ref(column)} = ${value}`],
  );
  // With the sign no engine takes the index of owners, which does not have all that is asked for.
  if (userId !== undefined) all.push(sql<SqlBool>`+user_id = ${userId}`);
  if (tokenId !== undefined) all.push(sql<SqlBool>`+token_id = ${tokenId}`);
  if (upstream === true) all.push(sql<SqlBool>`upstream_id is not null`);
  if (upstream === false) all.push(sql<SqlBool>`upstream_id is null`);
  if (createdFrom !== undefined) all.push(sql<SqlBool>`created_at >= ${createdFrom}`);
  if (createdBefore !== undefined) all.push(sql<SqlBool>`created_at < ${createdBefore}`);
  return all.length === 0 ? sql<SqlBool>`1 = 1` : sql.join(all, sql` and `);
}
