import { type SelectQueryBuilder, sql } from 'kysely';
import type { TaskPricing } from '../../settings/price-rules.ts';
import { type CamelCased, camelCased } from '../columns.ts';
import type { Database, Db, TaskFormat, TaskState, TasksTable } from '../schema.ts';
import { countRows } from '../statement.ts';
import { areSeen, isSeen, type Viewer } from './visibility.ts';

type NotInRecord = 'group_name' | 'service_tier' | 'idempotency_key' | 'fingerprint' | 'retry_count';

/** A row of a task under camelCase names, without what only look-ups need. */
type TaskRow = CamelCased<Omit<TasksTable, NotInRecord>> & { group: string };

/** A task. Times are epoch milliseconds. */
export interface TaskRecord
  extends Omit<TaskRow, 'facts' | 'result' | 'pricing' | 'errorCode' | 'errorMessage'> {
  facts: Readonly<Record<string, unknown>>;
  result: Readonly<Record<string, unknown>> | null;
  pricing: TaskPricing | null;
  error: { code: string; message: string } | null;
  /** Place in the queue of a task that waits for a channel. */
  queue?: QueuePlace | undefined;
}

/** Place of a waiting task in its queue. */
export interface QueuePlace {
  /** 1: it is the next one. */
  position: number;
  /** Epoch milliseconds. Null: unknown. */
  estimatedStartAt: number | null;
}

/** The columns for `taskRecord`. */
export const taskColumns = [
  ...camelCased(
    'id, request_id, user_id, token_id, operation, format, driver, model, unit, channel, upstream_id, state, progress',
    'facts, result, error_code, error_message, expected_units, pricing, unit_price, group_ratio, config_revision, callback_url',
    'created_at, updated_at, started_at, completed_at, expires_at, charged, traceparent, asked_at, deadline_at, polled_at',
    'next_poll_at, poll_interval, failures, lease_owner, attempt, queued_at',
  ),
  'group_name as group' as const,
];

export function taskRecord({ facts, result, pricing, errorCode, errorMessage, ...row }: TaskRow): TaskRecord {
  return {
    ...row,
    facts: JSON.parse(facts) as Record<string, unknown>,
    result: result === null ? null : (JSON.parse(result) as Record<string, unknown>),
    pricing: pricing === null ? null : (JSON.parse(pricing) as TaskPricing),
    error: errorCode === null ? null : { code: errorCode, message: errorMessage ?? '' },
  };
}

/** Identifies a task for a client. A task that the viewer does not see, or of another format, does not exist. */
export interface TaskName extends Viewer {
  id: string;
  format: TaskFormat;
}

/** Finds a task for a client. */
export async function findTask(db: Db, { id, ...name }: TaskName): Promise<TaskRecord | undefined> {
  return first(tasksNamed(db, name).where('id', '=', id));
}

/** Finds the user's task with an idempotency key, if its request had the same fingerprint. */
export async function findRepeatedTask(
  db: Db,
  name: Pick<TaskName, 'userId' | 'format'> & { idempotencyKey: string; fingerprint: string },
): Promise<TaskRecord | undefined> {
  const { userId, format, idempotencyKey, fingerprint } = name;
  const task = tasksNamed(db, { userId, format }).where('idempotency_key', '=', idempotencyKey);
  return first(task.where('fingerprint', '=', fingerprint));
}

/** Finds the tasks with these ids that the viewer sees, of one format, in no order. */
export async function findTasks(
  db: Db,
  filter: { ids: readonly string[] } & Omit<TaskName, 'id'>,
): Promise<TaskRecord[]> {
  return all(matching(db, filter));
}

/** Finds a task of any user. For the gateway itself, never for a client. */
export async function findTaskById(db: Db, id: string): Promise<TaskRecord | undefined> {
  return first(db.selectFrom('tasks').where('id', '=', id));
}

/** Finds the tasks with these ids that the viewer sees, of any format, in no order. */
export async function findSeenTasks(
  db: Db,
  { ids, ...viewer }: { ids: readonly string[] } & Viewer,
): Promise<TaskRecord[]> {
  if (ids.length === 0) return [];
  const tasks = db.selectFrom('tasks').where('id', 'in', ids).where('user_id', '=', viewer.userId);
  return all(tasks.where(isSeen(viewer, 'tasks.token_id')));
}

type TaskQuery = SelectQueryBuilder<Database, 'tasks', object>;

/** Tasks of one user and format that the viewer sees. */
const tasksNamed = (db: Db, name: Omit<TaskName, 'id'>): TaskQuery =>
  db
    .selectFrom('tasks')
    .where('user_id', '=', name.userId)
    .where('format', '=', name.format)
    .where(isSeen(name, 'tasks.token_id'));

async function first(query: TaskQuery): Promise<TaskRecord | undefined> {
  const row = await query.select(taskColumns).executeTakeFirst();
  return row === undefined ? undefined : taskRecord(row);
}

async function all(query: TaskQuery): Promise<TaskRecord[]> {
  return (await query.select(taskColumns).execute()).map(taskRecord);
}

/** Conditions for a list of tasks of one format that a viewer sees. */
export interface TaskFilter extends Viewer {
  format: TaskFormat;
  ids?: readonly string[];
  models?: readonly string[];
  states?: readonly TaskState[];
  /** Only tasks that failed with one of these codes. */
  errorCodes?: readonly string[];
  /** No task that failed with one of these codes. */
  exceptErrorCodes?: readonly string[];
  /** `default`: all tasks except `flex`. */
  serviceTier?: 'default' | 'flex';
  /** Epoch milliseconds, inclusive. */
  createdFrom?: number;
}

/** Lists tasks, the newest first unless `order` is `asc`. Undefined when the task `after` does not exist. */
export async function listTasks(
  db: Db,
  {
    after,
    order = 'desc',
    limit,
    ...filter
  }: TaskFilter & { after?: string; order?: 'asc' | 'desc'; limit: number },
): Promise<{ tasks: TaskRecord[]; hasMore: boolean } | undefined> {
  let query = matching(db, filter);
  if (after !== undefined) {
    const last = await findTask(db, { ...viewerIn(filter), id: after, format: filter.format });
    if (last === undefined) return undefined;
    const { createdAt, id } = last;
    query = query.where((eb) =>
      eb(eb.refTuple('created_at', 'id'), order === 'desc' ? '<' : '>', eb.tuple(createdAt, id)),
    );
  }
  // One more than the limit shows whether there is another page.
  const tasks = await all(
    query
      .orderBy('created_at', order)
      .orderBy('id', order)
      .limit(limit + 1),
  );
  return { tasks: tasks.slice(0, limit), hasMore: tasks.length > limit };
}

/** Largest number of tasks of a user and format that a page list counts. */
const maxListed = 50_000;

/** Returns a page of tasks, the newest first, and the number of tasks on all pages. It considers the newest `maxCounted` tasks. */
export async function pageTasks(
  db: Db,
  { offset, limit, ...filter }: TaskFilter & { offset: number; limit: number },
  maxCounted = maxListed,
): Promise<{ tasks: TaskRecord[]; total: number }> {
  const { format, createdFrom } = filter;
  const viewer = viewerIn(filter);
  const oldest = await matching(db, { ...viewer, format, ...(createdFrom !== undefined && { createdFrom }) })
    .select(['created_at', 'id'])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .offset(maxCounted - 1)
    .limit(1)
    .executeTakeFirst();
  const query =
    oldest === undefined
      ? matching(db, filter)
      : matching(db, { ...filter, createdFrom: oldest.created_at }).where((eb) =>
          eb(eb.refTuple('created_at', 'id'), '>=', eb.tuple(oldest.created_at, oldest.id)),
        );
  const total = await countRows(query);
  const page = query.orderBy('created_at', 'desc').orderBy('id', 'desc').offset(offset).limit(limit);
  return { tasks: await all(page), total };
}

const viewerIn = ({ userId, family }: Viewer): Viewer => ({ userId, family });

function matching(db: Db, filter: TaskFilter): TaskQuery {
  const { userId, format, ids, models, states, errorCodes, exceptErrorCodes, serviceTier, createdFrom } =
    filter;
  let query = db.selectFrom('tasks').where('user_id', '=', userId).where('format', '=', format);
  if (filter.family !== undefined) query = query.where(areSeen(filter, 'tasks.token_id'));
  for (const [column, values] of [
    ['id', ids],
    ['model', models],
    ['state', states],
    ['error_code', errorCodes],
  ] as const) {
    // SQL has no empty list.
    if (values?.length === 0) query = query.where(sql<boolean>`1 = 0`);
    else if (values !== undefined) query = query.where(column, 'in', values);
  }
  if (exceptErrorCodes !== undefined && exceptErrorCodes.length > 0) {
    query = query.where((eb) =>
      eb.or([eb('error_code', 'is', null), eb('error_code', 'not in', exceptErrorCodes)]),
    );
  }
  if (serviceTier === 'flex') query = query.where('service_tier', '=', 'flex');
  else if (serviceTier !== undefined)
    query = query.where((eb) => eb.or([eb('service_tier', 'is', null), eb('service_tier', '!=', 'flex')]));
  if (createdFrom !== undefined) query = query.where('created_at', '>=', createdFrom);
  return query;
}
