import { type SqlBool, sql } from 'kysely';
import { type CamelCased, camelCased, columnNames } from '../columns.ts';
import type { Db, DeliveriesTable } from '../schema.ts';
import { allOf, countRows, equalities } from '../statement.ts';
import { findSeenTasks, type TaskRecord } from './tasks.ts';
import { areSeen, type Viewer } from './visibility.ts';

/** Conditions of an operator for deliveries of all users. */
interface DeliverySearch {
  state?: 'open' | NonNullable<DeliveriesTable['outcome']> | undefined;
  taskId?: string | undefined;
  /** Host of the address, with its port if the address has one. */
  host?: string | undefined;
  userId?: number | undefined;
  offset: number;
  limit: number;
}

/** A delivery for an operator, without its address. `user_id` is null if the task does not exist any more. */
export type FoundDelivery = Omit<DeliveriesTable, 'id' | 'attempt' | 'user_id'> & {
  id: number;
  user_id: number | null;
};

const columns = columnNames(
  'd.id, d.task_id, d.state, d.host, d.changed_at, d.tries, d.next_try_at, d.lease_owner, d.outcome, d.closed_at',
  'd.last_try_at, d.last_status, d.last_error, t.user_id',
);

const callbackColumns = camelCased(
  'd.task_id, d.state, d.changed_at, d.tries, d.outcome, d.last_status, d.last_error',
);

const deliveriesWithTask = (db: Db) =>
  db.selectFrom('deliveries as d').leftJoin('tasks as t', 't.id', 'd.task_id').select(columns);

/** Conditions of a client for deliveries of the tasks that it sees. */
interface CallbackSearch extends Viewer {
  /** Epoch milliseconds, inclusive. */
  changedFrom?: number | undefined;
  offset: number;
  limit: number;
}

/** A delivery for a client, with its task. */
export type FoundCallback = CamelCased<
  Pick<
    DeliveriesTable,
    'task_id' | 'state' | 'changed_at' | 'tries' | 'outcome' | 'last_status' | 'last_error'
  >
> & { task: TaskRecord };

/** Returns a page of the deliveries that a viewer sees, the newest first, and the number of deliveries on all pages. */
export async function searchCallbacks(
  db: Db,
  { userId, family, changedFrom, offset, limit }: CallbackSearch,
): Promise<{ callbacks: FoundCallback[]; total: number }> {
  const conditions = [sql<SqlBool>`d.user_id = ${userId}`, areSeen({ userId, family }, 'tasks.token_id')];
  if (changedFrom !== undefined) conditions.push(sql<SqlBool>`d.changed_at >= ${changedFrom}`);
  const found = db
    .selectFrom('deliveries as d')
    .innerJoin('tasks', 'tasks.id', 'd.task_id')
    .where(allOf(conditions));
  const total = await countRows(found);
  if (offset >= total) return { callbacks: [], total };
  const page = await found
    .select(callbackColumns)
    .orderBy('d.changed_at', 'desc')
    .orderBy('d.id', 'desc')
    .offset(offset)
    .limit(limit)
    .execute();
  const tasks = await findSeenTasks(db, { ids: page.map(({ taskId }) => taskId), userId, family });
  const taskOf = new Map(tasks.map((task) => [task.id, task]));
  const callbacks = page.flatMap((delivery) => {
    const task = taskOf.get(delivery.taskId);
    return task === undefined ? [] : [{ ...delivery, task }];
  });
  return { callbacks, total: Math.max(total, offset + callbacks.length) };
}

/** Returns a page of deliveries, the newest first, and the number of deliveries on all pages. */
export async function searchDeliveries(
  db: Db,
  { offset, limit, state, taskId, host, userId }: DeliverySearch,
): Promise<{ deliveries: FoundDelivery[]; total: number }> {
  const outcome = state === 'open' ? undefined : state;
  const conditions = equalities({ 'd.outcome': outcome, 'd.task_id': taskId, 'd.host': host });
  if (state === 'open') conditions.push(sql<SqlBool>`d.closed_at is null`);
  if (userId !== undefined)
    conditions.push(sql<SqlBool>`d.task_id in (select id from tasks where user_id = ${userId})`);
  const found = db.selectFrom('deliveries as d').where(allOf(conditions));
  const total = await countRows(found);
  if (offset >= total) return { deliveries: [], total };
  const page = found.select('d.id').orderBy('d.id', 'desc').offset(offset).limit(limit);
  const deliveries = await deliveriesWithTask(db).where('d.id', 'in', page).orderBy('d.id', 'desc').execute();
  return { deliveries, total: Math.max(total, offset + deliveries.length) };
}

/** Finds a delivery, as a search returns it. */
export function findShownDelivery(db: Db, id: number): Promise<FoundDelivery | undefined> {
  return deliveriesWithTask(db).where('d.id', '=', id).executeTakeFirst();
}

/** Finds the deliveries of a task, the oldest first. */
export function deliveriesOf(db: Db, taskId: string): Promise<FoundDelivery[]> {
  return deliveriesWithTask(db).where('d.task_id', '=', taskId).orderBy('d.id').execute();
}
