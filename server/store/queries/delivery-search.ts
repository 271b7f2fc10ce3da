import { type SqlBool, sql } from 'kysely';
import { columnNames } from '../columns.ts';
import type { Db, DeliveriesTable } from '../schema.ts';
import { allOf, countRows, equalities } from '../statement.ts';

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

const deliveriesWithTask = (db: Db) =>
  db.selectFrom('deliveries as d').leftJoin('tasks as t', 't.id', 'd.task_id').select(columns);

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
