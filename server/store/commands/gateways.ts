import type { Command } from './command.ts';
import { releaseDeliveries } from './deliveries.ts';
import { reapLeases } from './leases.ts';
import { refundOrphans } from './ledger.ts';
import { releaseTasks } from './task-polls.ts';

/** A gateway and how far its beat had come. */
export interface Beat {
  id: string;
  beat: number;
}

/**
 * Says that a gateway is alive and gives the beats of the others. `missed` when it was not there: it is new, or the
 * others took it for gone. With `alone` there can be no others, and any that are there are not alive.
 */
export const beat: Command<Beat & { alone?: boolean }, { missed: boolean; others: Beat[] }> = async (
  trx,
  { id, beat: count, alone = false },
) => {
  if (alone) await trx.deleteFrom('gateways').execute();
  const { numUpdatedRows } = await trx
    .updateTable('gateways')
    .set({ beat: count })
    .where('id', '=', id)
    .executeTakeFirst();
  const missed = numUpdatedRows === 0n;
  if (missed) await trx.insertInto('gateways').values({ id, beat: count }).execute();
  const others = await trx.selectFrom('gateways').selectAll().where('id', '!=', id).execute();
  return { missed, others };
};

/** Takes a gateway for gone. False when its beat has come further meanwhile; null: whatever its beat. */
export const removeGateway: Command<{ id: string; beat: number | null }, boolean> = async (
  trx,
  { id, beat: last },
) => {
  const { numDeletedRows } = await trx
    .deleteFrom('gateways')
    .where('id', '=', id)
    .$if(last !== null, (query) => query.where('beat', '=', last))
    .executeTakeFirst();
  return numDeletedRows > 0n;
};

/** What was given back, by kind. */
export interface Freed {
  holds: number;
  tasks: number;
  deliveries: number;
  /** Of quota. */
  leases: number;
}

/** Gives back what gateways hold that are not there any more: the holds of requests, and leases of work and of quota. */
export const freeOrphans: Command<{ now: number; dueNow: number }, Freed> = async (trx, { now, dueNow }) => {
  // First what others lock first.
  const tasks = await releaseTasks(trx, { owner: null, now: dueNow });
  const deliveries = await releaseDeliveries(trx, { owner: null, now: dueNow });
  const leases = await reapLeases(trx, now);
  return { holds: await refundOrphans(trx, { now }), tasks, deliveries, leases };
};
