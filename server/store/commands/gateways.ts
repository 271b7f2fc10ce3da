import type { Db } from '../schema.ts';
import { affectsRow } from '../statement.ts';
import { releaseDeliveries, releaseTasks } from './due-work.ts';
import { reapLeases } from './leases.ts';
import { refundOrphans } from './ledger.ts';
import { QuotaReturns } from './quota-returns.ts';

/** A gateway and its latest heartbeat. */
export interface Heartbeat {
  id: string;
  heartbeat: number;
}

/** Records a heartbeat and returns those of the others. `missed`: it was not registered. `alone`: removes all other gateways. */
export async function recordHeartbeat(
  trx: Db,
  { id, heartbeat, alone = false }: Heartbeat & { alone?: boolean },
): Promise<{ missed: boolean; others: Heartbeat[] }> {
  if (alone) await trx.deleteFrom('gateways').execute();
  const missed = !(await affectsRow(
    trx,
    trx.updateTable('gateways').set({ heartbeat }).where('id', '=', id),
  ));
  if (missed) await trx.insertInto('gateways').values({ id, heartbeat }).execute();
  const others = await trx.selectFrom('gateways').selectAll().where('id', '!=', id).execute();
  return { missed, others };
}

/** Removes a lost gateway. False when it has sent another heartbeat in the meantime. null: whatever its heartbeat. */
export function removeGateway(trx: Db, { id, heartbeat }: { id: string; heartbeat: number | null }) {
  const gateway = trx.deleteFrom('gateways').where('id', '=', id);
  return affectsRow(trx, heartbeat === null ? gateway : gateway.where('heartbeat', '=', heartbeat));
}

/** Number of released objects, by kind. */
export interface Released {
  reservations: number;
  tasks: number;
  deliveries: number;
  /** Quota leases. */
  leases: number;
}

/** Releases what lost gateways had: reservations of requests, claims of tasks and deliveries, and quota leases. */
export async function releaseOrphans(
  trx: Db,
  { now, dueNow }: { now: number; dueNow: number },
): Promise<Released> {
  // In the order in which other commands lock these rows.
  const tasks = await releaseTasks(trx, { owner: null, now: dueNow });
  const deliveries = await releaseDeliveries(trx, { owner: null, now: dueNow });
  const returns = new QuotaReturns();
  const leases = await reapLeases(trx, returns);
  const reservations = await refundOrphans(trx, returns, now);
  await returns.apply(trx, now);
  return { reservations, tasks, deliveries, leases };
}
