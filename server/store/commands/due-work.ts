import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../schema.ts';
import { countAffected } from '../statement.ts';

/** Work that gateways claim: its table, and the column of its due time. */
const tasks = { table: sql.table('tasks'), dueAt: sql.ref('next_poll_at') };
const deliveries = { table: sql.table('deliveries'), dueAt: sql.ref('next_try_at') };
type Work = Readonly<Record<'table' | 'dueAt', RawBuilder<unknown>>>;

/** The claims of one gateway. Null: those of all lost gateways. */
type Claims = { owner: string | null; now: number };
/** Work that is due later than `after` and not claimed. */
type LateWork = { now: number; after: number };

/** Releases claimed tasks and makes them due. Returns how many. */
export const releaseTasks = (trx: Db, claims: Claims) => release(trx, tasks, claims);

/** Releases claimed deliveries and makes them due. Returns how many. */
export const releaseDeliveries = (trx: Db, claims: Claims) => release(trx, deliveries, claims);

/** Makes tasks due whose due time is too late. Returns how many. */
export const repairDueTasks = (trx: Db, late: LateWork) => repairDue(trx, tasks, late);

/** Makes deliveries due whose due time is too late. Returns how many. */
export const repairDueDeliveries = (trx: Db, late: LateWork) => repairDue(trx, deliveries, late);

function release(trx: Db, { table, dueAt }: Work, { owner, now }: Claims): Promise<number> {
  const isReleased =
    owner === null
      ? sql`not exists (select 1 from gateways where gateways.id = lease_owner)`
      : sql`lease_owner = ${owner}`;
  return countAffected(
    trx,
    sql`update ${table} set lease_owner = null, ${dueAt} = ${now}, attempt = attempt + 1
      where ${dueAt} is not null and lease_owner is not null and ${isReleased}`,
  );
}

function repairDue(trx: Db, { table, dueAt }: Work, { now, after }: LateWork): Promise<number> {
  return countAffected(
    trx,
    sql`update ${table} set ${dueAt} = ${now} where ${dueAt} > ${after} and lease_owner is null`,
  );
}
