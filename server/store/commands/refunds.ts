import type { Kysely, Selectable } from 'kysely';
import { type Charge, findCharge, findRefund } from '../queries/charges.ts';
import { leftOf } from '../queries/leases.ts';
import type { Database, RefundsTable } from '../schema.ts';
import { type Intent, recordChange } from './changes.ts';
import type { Command } from './command.ts';
import { returnLeftover } from './revocation.ts';

export interface NewRefund {
  /** Request id or task id. */
  id: string;
  /** From 1 to what was charged; null: all of it. */
  amount: number | null;
  reason: string;
  /** The admin's own name for the request: another one of that name is the same. */
  idempotencyKey: string | null;
  change: Intent;
}

export interface Refund extends Selectable<RefundsTable> {
  /** The key whose balance has the amount; null: the key that paid had no limit. */
  creditedTo: number | null;
  /** What that key has left. */
  left: number | null;
}

export type RefundResult =
  | { outcome: 'refunded'; refund: Refund }
  /** The log has no such entry. */
  | { outcome: 'not_found' }
  /** There is a refund of this call already. */
  | { outcome: 'refunded_before'; refund: Selectable<RefundsTable> }
  /** The admin made another refund under that name. */
  | { outcome: 'reused' }
  | { outcome: 'out_of_range'; charged: number };

/**
 * Gives back quota that a settled call or task cost, once for each. The amount goes to the key that paid, or to its funder when the
 * key was deleted. A key without a limit only has its used quota corrected. The log entry stays as it is.
 */
export const refundCall: Command<NewRefund, RefundResult> = async (trx, order) => {
  const repeated = await findRepeated(trx, order);
  if (repeated !== undefined) return repeated;
  const charge = await findCharge(trx, order.id);
  if (charge === undefined) return { outcome: 'not_found' };
  // The same request may have been committed since the first look.
  if (charge.refund !== null)
    return (await findRepeated(trx, order)) ?? { outcome: 'refunded_before', refund: charge.refund };
  const amount = order.amount ?? charge.quota;
  if (amount < 1 || amount > charge.quota) return { outcome: 'out_of_range', charged: charge.quota };
  const inserted = await insertRefund(trx, charge, amount, order);
  // Another admin was faster, or another refund of that name was.
  if (inserted === undefined) return (await findRepeated(trx, order)) ?? refundedBefore(trx, charge);
  await credit(trx, inserted, order.change.now);
  const refund = await withBalance(trx, inserted);
  const { token_id, charged, reason } = inserted;
  const details = { amount, charged, token_id, credited_to: refund.creditedTo, reason };
  await recordChange(trx, { ...order.change, subject: `request ${charge.request_id}`, details });
  return { outcome: 'refunded', refund };
};

/** Returns what an earlier request under the same name came to. Undefined when there was none. */
async function findRepeated(
  trx: Kysely<Database>,
  { id, amount, reason, idempotencyKey, change }: NewRefund,
): Promise<RefundResult | undefined> {
  if (idempotencyKey === null) return undefined;
  const earlier = await trx
    .selectFrom('refunds')
    .selectAll()
    .where('given_by', '=', change.userId)
    .where('idempotency_key', '=', idempotencyKey)
    .executeTakeFirst();
  if (earlier === undefined) return undefined;
  const isSameCall =
    earlier.request_id === id || (await findCharge(trx, id))?.request_id === earlier.request_id;
  const isSame = isSameCall && earlier.amount === (amount ?? earlier.charged) && earlier.reason === reason;
  return isSame ? { outcome: 'refunded', refund: await withBalance(trx, earlier) } : { outcome: 'reused' };
}

async function refundedBefore(trx: Kysely<Database>, { request_id: id }: Charge): Promise<RefundResult> {
  const refund = await findRefund(trx, id);
  if (refund === undefined) throw new Error('the refund vanished that was in the way');
  return { outcome: 'refunded_before', refund };
}

/** Undefined when the request or the idempotency key has a refund. Waits for one that is being made. */
function insertRefund(
  trx: Kysely<Database>,
  charge: Charge,
  amount: number,
  { reason, idempotencyKey, change }: NewRefund,
): Promise<Selectable<RefundsTable> | undefined> {
  const { request_id, token_id, user_id, model_name, operation, channel, unit, unlimited } = charge;
  return trx
    .insertInto('refunds')
    .values({
      request_id,
      token_id,
      user_id,
      model_name,
      operation,
      channel,
      unit,
      charged: charge.quota,
      amount,
      unlimited,
      reason,
      given_by: change.userId,
      idempotency_key: idempotencyKey,
      created_at: change.now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
}

async function credit(
  trx: Kysely<Database>,
  { token_id: id, amount, unlimited }: Selectable<RefundsTable>,
  now: number,
): Promise<void> {
  const token = await trx
    .updateTable('tokens')
    .set((row) => ({
      used_quota: row('used_quota', '-', amount),
      remain_quota: row('remain_quota', '+', unlimited === 1 ? 0 : amount),
    }))
    .where('id', '=', id)
    .returning('deleted_at')
    .executeTakeFirst();
  if (token === undefined) throw new Error(`key ${id} is not there, which paid`);
  if (token.deleted_at !== null) await returnLeftover(trx, id, now);
}

async function withBalance(trx: Kysely<Database>, refund: Selectable<RefundsTable>): Promise<Refund> {
  if (refund.unlimited === 1) return { ...refund, creditedTo: null, left: null };
  const payer = await balanceOf(trx, refund.token_id);
  const funder = payer?.deleted_at === null ? null : (payer?.funder_id ?? null);
  const credited = funder === null ? payer : await balanceOf(trx, funder);
  return { ...refund, creditedTo: funder ?? refund.token_id, left: credited?.left ?? 0 };
}

function balanceOf(trx: Kysely<Database>, id: number) {
  return trx
    .selectFrom('tokens')
    .select([leftOf('tokens').as('left'), 'deleted_at', 'funder_id'])
    .where('id', '=', id)
    .executeTakeFirst();
}
