import type { Command } from './command.ts';
import { releaseDeliveries } from './deliveries.ts';
import { reapLeases } from './leases.ts';
import { refundOrphans } from './ledger.ts';
import { releaseTasks } from './task-polls.ts';

/** A gateway and its latest heartbeat. */
export interface Heartbeat {
  id: string;
  heartbeat: number;
}

/**
 * Records the heartbeat of a gateway and returns those of the others. `missed`: the gateway was not registered, since it is new or the
 * others found it lost. With `alone` it is the only gateway, and all others are removed.
 */
export const recordHeartbeat: Command<
  Heartbeat & { alone?: boolean },
  { missed: boolean; others: Heartbeat[] }
> = async (trx, { id, heartbeat, alone = false }) => {
  if (alone) await trx.deleteFrom('gateways').execute();
  const { numUpdatedRows } = await trx
    .updateTable('gateways')
    .set({ heartbeat })
    .where('id', '=', id)
    .executeTakeFirst();
  const missed = numUpdatedRows === 0n;
  if (missed) await trx.insertInto('gateways').values({ id, heartbeat }).execute();
  const others = await trx.selectFrom('gateways').selectAll().where('id', '!=', id).execute();
  return { missed, others };
};

/** Removes a lost gateway. False when it has sent another heartbeat in the meantime. null: whatever its heartbeat. */
export const removeGateway: Command<{ id: string; heartbeat: number | null }, boolean> = async (
  trx,
  { id, heartbeat },
) => {
  const { numDeletedRows } = await trx
    .deleteFrom('gateways')
    .where('id', '=', id)
    .$if(heartbeat !== null, (query) => query.where('heartbeat', '=', heartbeat))
    .executeTakeFirst();
  return numDeletedRows > 0n;
};

/** Number of released objects, by kind. */
export interface Released {
  reservations: number;
  tasks: number;
  deliveries: number;
  /** Quota leases. */
  leases: number;
}

/** Releases what lost gateways had: reservations of requests, claims of tasks and deliveries, and quota leases. */
export const releaseOrphans: Command<{ now: number; dueNow: number }, Released> = async (
  trx,
  { now, dueNow },
) => {
  // In the order in which other commands lock these rows.
  const tasks = await releaseTasks(trx, { owner: null, now: dueNow });
  const deliveries = await releaseDeliveries(trx, { owner: null, now: dueNow });
  const leases = await reapLeases(trx, now);
  return { reservations: await refundOrphans(trx, { now }), tasks, deliveries, leases };
};
