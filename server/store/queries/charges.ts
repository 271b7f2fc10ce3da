import { type Kysely, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import { onDays } from '../log-days.ts';
import { oneOf } from '../rows.ts';
import type { Database, RefundsTable, RequestLogTable } from '../schema.ts';

/** The log entry of a closed call or task, with what was reserved for it and its refund. */
export interface Charge extends Selectable<RequestLogTable> {
  /** Quota that was reserved. */
  held: number;
  /** 1: the key had no limit when it paid. */
  unlimited: 0 | 1;
  refund: Selectable<RefundsTable> | null;
}

/** The public id of a task. */
export const taskIdPattern = /^task_[0-9a-f]{32}$/;

/**
 * Finds a charge by its request id or task id. Undefined while the work is in progress, when retention has removed the entry, or
 * when there was no such work.
 */
export async function findCharge(db: Kysely<Database>, id: string): Promise<Charge | undefined> {
  const requestId = taskIdPattern.test(id) ? await requestOfTask(db, id) : id;
  if (requestId === undefined) return undefined;
  const entry = await db
    .selectFrom('request_log')
    .selectAll()
    .where('request_id', '=', requestId)
    .executeTakeFirst();
  if (entry === undefined) return undefined;
  // Entries of older versions have their reservation in the ledger.
  const reservation = await db
    .selectFrom('ledger')
    .select(['reserved', 'unlimited'])
    .where('request_id', '=', requestId)
    .executeTakeFirst();
  const refund = await findRefund(db, requestId);
  const held = entry.held ?? reservation?.reserved ?? entry.quota;
  return {
    ...entry,
    held,
    unlimited: entry.unlimited ?? reservation?.unlimited ?? 0,
    refund: refund ?? null,
  };
}

/** Finds the request of a task by the log, or by the task itself for entries of older versions. */
async function requestOfTask(db: Kysely<Database>, id: string): Promise<string | undefined> {
  const { rows } = await sql<{ request_id: string }>`
    select request_id from request_log where ${ofTask(db, id)}
    union select request_id from tasks where id = ${id}`.execute(db);
  return rows[0]?.request_id;
}

/** Condition that an entry is of a task. An entry with a task id always has a day, so PostgreSQL uses the indexes of the days. */
export function ofTask(db: Kysely<Database>, id: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`task_id = ${id} and ${onDays(db, 1, Infinity)}`;
}

/** Finds the refund of a request. */
export function findRefund(
  db: Kysely<Database>,
  requestId: string,
): Promise<Selectable<RefundsTable> | undefined> {
  return db.selectFrom('refunds').selectAll().where('request_id', '=', requestId).executeTakeFirst();
}

/** Returns the refunded quota of those of some requests that have a refund. */
export async function refundsOf(
  db: Kysely<Database>,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (requestIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('refunds')
    .select(['request_id', 'amount'])
    .where(oneOf(db, sql.ref('request_id'), requestIds))
    .execute();
  return new Map(rows.map(({ request_id: id, amount }) => [id, amount]));
}
