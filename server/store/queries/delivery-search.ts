import { type SqlBool, sql } from 'kysely';
import { type CamelCased, camelCased, columnNames } from '../columns.ts';
import type { Db, DeliveriesTable, EventKind, TaskState } from '../schema.ts';
import { allOf, countRows, equalities } from '../statement.ts';
import { type AddressedEvent, findAddressedEvents } from './endpoints.ts';
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

/**
 * A delivery for an operator, without its address. `user_id` is null if the task does not exist any more, and for endpoints
 * of the operator.
 */
export type FoundDelivery = Omit<DeliveriesTable, 'id' | 'attempt' | 'user_id'> & {
  id: number;
  user_id: number | null;
  /** null: the delivery is one of a task. */
  kind: EventKind | null;
};

const columns = columnNames(
  'd.id, d.task_id, d.state, d.host, d.changed_at, d.tries, d.next_try_at, d.lease_owner, d.outcome, d.closed_at',
  'd.last_try_at, d.last_status, d.last_error, d.event_id, d.endpoint_id, e.kind',
);

const callbackColumns = camelCased(
  'd.id, d.task_id, d.state, d.endpoint_id, d.changed_at, d.tries, d.outcome, d.last_status, d.last_error',
);

const deliveriesWithTask = (db: Db) =>
  db
    .selectFrom('deliveries as d')
    .leftJoin('tasks as t', 't.id', 'd.task_id')
    .leftJoin('events as e', 'e.id', 'd.event_id')
    .select(columns)
    .select(
      sql<number | null>`case when d.event_id is null then t.user_id else nullif(d.user_id, 0) end`.as(
        'user_id',
      ),
    );

/** Conditions of a client for deliveries of the tasks and to the endpoints that it sees. */
interface CallbackSearch extends Viewer {
  /** Whether it sees the deliveries to endpoints of the operator. */
  isOperator: boolean;
  /** Epoch milliseconds, inclusive. */
  changedFrom?: number | undefined;
  offset: number;
  limit: number;
}

/** A delivery for a client, with its task, or with its event and endpoint. */
export type FoundCallback = CamelCased<
  Pick<DeliveriesTable, 'changed_at' | 'tries' | 'outcome' | 'last_status' | 'last_error'>
> &
  ({ task: TaskRecord; state: TaskState } | { event: AddressedEvent });

/** Returns a page of the deliveries that a viewer sees, the newest first, and the number of deliveries on all pages. */
export async function searchCallbacks(
  db: Db,
  { userId, family, isOperator, changedFrom, offset, limit }: CallbackSearch,
): Promise<{ callbacks: FoundCallback[]; total: number }> {
  const isTaskSeen = sql<SqlBool>`tasks.id is not null and ${areSeen({ userId, family }, 'tasks.token_id')}`;
  // A key with limits sees no event, which can concern another key.
  const isEventSeen = family === undefined ? sql<SqlBool>`d.event_id is not null` : sql<SqlBool>`1 = 0`;
  const users = isOperator && family === undefined ? [userId, 0] : [userId];
  const conditions = [
    sql<SqlBool>`d.user_id in (${sql.join(users)})`,
    sql<SqlBool>`((${isTaskSeen}) or ${isEventSeen})`,
  ];
  if (changedFrom !== undefined) conditions.push(sql<SqlBool>`d.changed_at >= ${changedFrom}`);
  const found = db
    .selectFrom('deliveries as d')
    .leftJoin('tasks', 'tasks.id', 'd.task_id')
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
  const taskIds = page.flatMap(({ taskId }) => taskId ?? []);
  const tasks = taskIds.length === 0 ? [] : await findSeenTasks(db, { ids: taskIds, userId, family });
  const taskOf = new Map(tasks.map((task) => [task.id, task]));
  const ids = page.flatMap(({ id, endpointId }) => (endpointId === null ? [] : id));
  const events = await findAddressedEvents(db, ids);
  const eventOf = new Map(events.map(({ deliveryId, ...event }) => [deliveryId, event]));
  const callbacks = page.flatMap(({ id, taskId, state, endpointId: _, ...delivery }): FoundCallback[] => {
    const task = taskId === null ? undefined : taskOf.get(taskId);
    if (task !== undefined && state !== null) return [{ ...delivery, task, state }];
    const event = eventOf.get(id);
    return event === undefined ? [] : [{ ...delivery, event }];
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
    conditions.push(
      sql<SqlBool>`(d.task_id in (select id from tasks where user_id = ${userId})
        or (d.event_id is not null and d.user_id = ${userId}))`,
    );
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
