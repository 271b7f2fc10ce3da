import { type Kysely, sql } from 'kysely';
import type { Database, TaskFormat, TaskState } from '../schema.ts';
import { areSeen, isSeen, type Viewer } from './visibility.ts';

/** A task. Times are epoch milliseconds. */
export interface TaskRecord {
  /** The public id. */
  id: string;
  requestId: string;
  userId: number;
  tokenId: number;
  operation: string;
  format: TaskFormat;
  driver: string;
  model: string;
  unit: string;
  channel: string;
  /** Never shown to clients; null while it is not known to be upstream. */
  upstreamId: string | null;
  state: TaskState;
  progress: number;
  facts: Readonly<Record<string, unknown>>;
  result: Readonly<Record<string, unknown>> | null;
  error: { code: string; message: string } | null;
  expectedUnits: number;
  /** Quota per unit when it was created, before the group's ratio. */
  unitPrice: number;
  groupRatio: number;
  group: string;
  configRevision: string;
  callbackUrl: string | null;
  createdAt: number;
  updatedAt: number;
  startedAt: number | null;
  completedAt: number | null;
  /** End of the result's life; null until it is final. */
  expiresAt: number | null;
  /** Where the request that made it stood in its trace; null: nobody followed it. */
  traceparent: string | null;
  /** When an upstream may have been asked for it first; null: none was. By the clock of due times, as what follows. */
  askedAt: number | null;
  deadlineAt: number;
  polledAt: number | null;
  nextPollAt: number | null;
  pollInterval: number;
  failures: number;
  leaseOwner: string | null;
  attempt: number;
}

/** What a `TaskRecord` is made of. */
export const taskColumns = [
  'id',
  'request_id as requestId',
  'user_id as userId',
  'token_id as tokenId',
  'operation',
  'format',
  'driver',
  'model',
  'unit',
  'channel',
  'upstream_id as upstreamId',
  'state',
  'progress',
  'facts',
  'result',
  'error_code as errorCode',
  'error_message as errorMessage',
  'expected_units as expectedUnits',
  'unit_price as unitPrice',
  'group_ratio as groupRatio',
  'group_name as group',
  'config_revision as configRevision',
  'callback_url as callbackUrl',
  'created_at as createdAt',
  'updated_at as updatedAt',
  'started_at as startedAt',
  'completed_at as completedAt',
  'expires_at as expiresAt',
  'traceparent',
  'asked_at as askedAt',
  'deadline_at as deadlineAt',
  'polled_at as polledAt',
  'next_poll_at as nextPollAt',
  'poll_interval as pollInterval',
  'failures',
  'lease_owner as leaseOwner',
  'attempt',
] as const;

type TaskRow = Omit<TaskRecord, 'facts' | 'result' | 'error'> & {
  facts: string;
  result: string | null;
  errorCode: string | null;
  errorMessage: string | null;
};

export function taskRecord({ facts, result, errorCode, errorMessage, ...row }: TaskRow): TaskRecord {
  return {
    ...row,
    facts: JSON.parse(facts) as Record<string, unknown>,
    result: result === null ? null : (JSON.parse(result) as Record<string, unknown>),
    error: errorCode === null ? null : { code: errorCode, message: errorMessage ?? '' },
  };
}

/** Names a task as a client may: one that the viewer does not see, or of another format, does not exist. */
export interface TaskName extends Viewer {
  id: string;
  format: TaskFormat;
}

export async function findTask(db: Kysely<Database>, name: TaskName): Promise<TaskRecord | undefined> {
  const row = await db
    .selectFrom('tasks')
    .select(taskColumns)
    .where('id', '=', name.id)
    .where('user_id', '=', name.userId)
    .where('format', '=', name.format)
    .where(isSeen(name, 'tasks.token_id'))
    .executeTakeFirst();
  return row === undefined ? undefined : taskRecord(row);
}

/** The user's task of an idempotency key, if it was made of that very request. */
export async function findRepeatedTask(
  db: Kysely<Database>,
  name: Pick<TaskName, 'userId' | 'format'> & { idempotencyKey: string; fingerprint: string },
): Promise<TaskRecord | undefined> {
  const row = await db
    .selectFrom('tasks')
    .select(taskColumns)
    .where('user_id', '=', name.userId)
    .where('format', '=', name.format)
    .where('idempotency_key', '=', name.idempotencyKey)
    .where('fingerprint', '=', name.fingerprint)
    .executeTakeFirst();
  return row === undefined ? undefined : taskRecord(row);
}

/** The user's tasks of that format among these ids, in no order. */
export async function findTasks(
  db: Kysely<Database>,
  { ids, format, ...viewer }: { ids: readonly string[] } & Omit<TaskName, 'id'>,
): Promise<TaskRecord[]> {
  const rows = await matching(db, { ...viewer, format, ids })
    .select(taskColumns)
    .execute();
  return rows.map(taskRecord);
}

/** A task whoever owns it: for the program itself, never for a client. */
export async function findTaskById(db: Kysely<Database>, id: string): Promise<TaskRecord | undefined> {
  const row = await db.selectFrom('tasks').select(taskColumns).where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : taskRecord(row);
}

/** The tasks among these ids that the viewer sees, whatever their format, in no order. */
export async function findSeenTasks(
  db: Kysely<Database>,
  { ids, ...viewer }: { ids: readonly string[] } & Viewer,
): Promise<TaskRecord[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('tasks')
    .select(taskColumns)
    .where('id', 'in', ids)
    .where('user_id', '=', viewer.userId)
    .where(isSeen(viewer, 'tasks.token_id'))
    .execute();
  return rows.map(taskRecord);
}

/** Which of the tasks of one format that a viewer sees to list. */
export interface TaskFilter extends Viewer {
  format: TaskFormat;
  ids?: readonly string[];
  models?: readonly string[];
  states?: readonly TaskState[];
  /** Only tasks that failed with one of these. */
  errorCodes?: readonly string[];
  /** No task that failed with one of these. */
  exceptErrorCodes?: readonly string[];
  /** `default` are all that named no other. */
  serviceTier?: 'default' | 'flex';
  /** Epoch milliseconds, inclusive. */
  createdFrom?: number;
}

/** Newest first unless `order` is `asc`. Undefined when `after` is not one of the user's tasks of that format. */
export async function listTasks(
  db: Kysely<Database>,
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
  // One more than asked for tells whether there is another page.
  const rows = await query
    .select(taskColumns)
    .orderBy('created_at', order)
    .orderBy('id', order)
    .limit(limit + 1)
    .execute();
  return { tasks: rows.slice(0, limit).map(taskRecord), hasMore: rows.length > limit };
}

/** A page list looks at no more than a user's latest tasks of a format, as many as its pages can show. */
const maxListed = 50_000;

/**
 * One page, newest first, and how many there are on all pages, both among the user's latest 50,000 of that format. It
 * looks at an index alone until it knows what is on the page, so even a list of nothing takes little time.
 */
export async function pageTasks(
  db: Kysely<Database>,
  { offset, limit, ...filter }: TaskFilter & { offset: number; limit: number },
  within = maxListed,
): Promise<{ tasks: TaskRecord[]; total: number }> {
  const { format, createdFrom } = filter;
  const viewer = viewerIn(filter);
  const oldest = await matching(db, { ...viewer, format, ...(createdFrom !== undefined && { createdFrom }) })
    .select(['created_at', 'id'])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .offset(within - 1)
    .limit(1)
    .executeTakeFirst();
  const query =
    oldest === undefined
      ? matching(db, filter)
      : matching(db, { ...filter, createdFrom: oldest.created_at }).where((eb) =>
          eb(eb.refTuple('created_at', 'id'), '>=', eb.tuple(oldest.created_at, oldest.id)),
        );
  const { total } = await query
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await query
    .select(taskColumns)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .offset(offset)
    .limit(limit)
    .execute();
  return { tasks: rows.map(taskRecord), total };
}

const viewerIn = ({ userId, family }: Viewer): Viewer => ({ userId, family });

function matching(db: Kysely<Database>, filter: TaskFilter) {
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
    // An empty list matches nothing, but is no SQL.
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
