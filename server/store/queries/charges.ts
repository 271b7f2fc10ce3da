import { type Selectable, sql } from 'kysely';
import { oneOf } from '../rows.ts';
import type { Db, RefundsTable, RequestLogTable } from '../schema.ts';

/** The log entry of a finished call or task, with its refund. */
export interface Charge extends Selectable<RequestLogTable> {
  refund: Selectable<RefundsTable> | null;
}

/** The public id of a task. */
export const taskIdPattern = /^task_[0-9a-f]{32}$/;

/** Finds a charge by its request id or task id. Undefined while the work is in progress, and after retention has deleted the entry. */
export async function findCharge(db: Db, id: string): Promise<Charge | undefined> {
  const entry = await db
    .selectFrom('request_log')
    .selectAll()
    .where(taskIdPattern.test(id) ? 'task_id' : 'request_id', '=', id)
    .executeTakeFirst();
  if (entry === undefined) return undefined;
  return { ...entry, refund: (await findRefund(db, entry.request_id)) ?? null };
}

/** Finds the refund of a request. */
export function findRefund(db: Db, requestId: string): Promise<Selectable<RefundsTable> | undefined> {
  return db.selectFrom('refunds').selectAll().where('request_id', '=', requestId).executeTakeFirst();
}

/** Returns the refunded quota of entries by their request ids. Entries without a refund are absent. */
export async function refundsOf(
  db: Db,
  entries: readonly { request_id: string }[],
): Promise<ReadonlyMap<string, number>> {
  if (entries.length === 0) return new Map();
  const requestIds = entries.map(({ request_id: id }) => id);
  const rows = await db
    .selectFrom('refunds')
    .select(['request_id', 'amount'])
    .where(oneOf(db, sql.ref('request_id'), requestIds))
    .execute();
  return new Map(rows.map(({ request_id: id, amount }) => [id, amount]));
}
