import { type Selectable, sql } from 'kysely';
import { type Charge, findCharge, findRefund } from '../queries/charges.ts';
import { walletOf } from '../queries/wallets.ts';
import type { Db, RefundsTable } from '../schema.ts';
import { balanceOf } from './balances.ts';
import { type Intent, recordChange } from './changes.ts';
import { lockWithFunders, returnLeftover } from './revocation.ts';
import { moveInWallet } from './wallet-moves.ts';

export interface NewRefund {
  /** Request id or task id. */
  id: string;
  /** From 1 to the charge; null: the complete charge. */
  amount: number | null;
  reason: string;
  idempotencyKey: string | null;
  change: Intent;
}

type RefundRow = Selectable<RefundsTable>;

interface Refund extends RefundRow {
  /** The key whose balance has the amount; null: the key that paid had no limit. */
  creditedTo: number | null;
  /** Available quota of that key. */
  left: number | null;
  /** Balance of the wallet that has the amount; null: no wallet has it. */
  walletBalance: number | null;
}

export type RefundResult =
  | { outcome: 'refunded'; refund: Refund }
  | { outcome: 'not_found' }
  /** This call has a refund already. */
  | { outcome: 'refunded_before'; refund: RefundRow }
  /** The idempotency key belongs to another refund of the admin. */
  | { outcome: 'reused' }
  | { outcome: 'out_of_range'; charged: number };

/**
 * Refunds the charge of a settled call or task, once. The key that paid gets the amount, or its funder if the key was deleted, and
 * the wallet of the user.
 */
export async function refundCall(trx: Db, order: NewRefund): Promise<RefundResult> {
  const earlier = await findRepeated(trx, order);
  if (earlier !== undefined) return earlier;
  const charge = await findCharge(trx, order.id);
  if (charge === undefined) return { outcome: 'not_found' };
  // A concurrent request with the same idempotency key can have been committed meanwhile.
  if (charge.refund !== null)
    return (await findRepeated(trx, order)) ?? { outcome: 'refunded_before', refund: charge.refund };
  const amount = order.amount ?? charge.quota;
  if (amount < 1 || amount > charge.quota) return { outcome: 'out_of_range', charged: charge.quota };
  const inserted = await insertRefund(trx, charge, amount, order);
  // A concurrent request inserted a refund of this call, or with this idempotency key.
  if (inserted === undefined) return (await findRepeated(trx, order)) ?? refundedBefore(trx, charge);
  const credited = await credit(trx, inserted, charge, order.change.now);
  const refund = await withBalance(trx, credited);
  const { token_id, charged, reason } = inserted;
  const details = { amount, charged, token_id, credited_to: refund.creditedTo, reason };
  await recordChange(trx, { ...order.change, subject: `request ${charge.request_id}`, details });
  return { outcome: 'refunded', refund };
}

/** Returns the result of an earlier request with the same idempotency key. Undefined without one. */
async function findRepeated(
  trx: Db,
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

async function refundedBefore(trx: Db, { request_id: id }: Charge): Promise<RefundResult> {
  const refund = await findRefund(trx, id);
  if (refund === undefined) throw new Error('the conflicting refund does not exist');
  return { outcome: 'refunded_before', refund };
}

/** Undefined when the request or the idempotency key has a refund. Waits for a transaction that inserts one. */
function insertRefund(
  trx: Db,
  charge: Charge,
  amount: number,
  { reason, idempotencyKey, change }: NewRefund,
): Promise<RefundRow | undefined> {
  const { request_id, token_id, user_id, model_name, operation, channel, unit, unlimited } = charge;
  const call = { request_id, token_id, user_id, model_name, operation, channel, unit, unlimited };
  const { userId: given_by, now: created_at } = change;
  return trx
    .insertInto('refunds')
    .values({
      ...call,
      charged: charge.quota,
      amount,
      reason,
      given_by,
      idempotency_key: idempotencyKey,
      created_at,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
}

/** Credits a refund to the key and the wallet. Returns its row, which states whether a wallet has the amount. */
async function credit(
  trx: Db,
  refund: RefundRow,
  { wallet: hasPaid }: Charge,
  now: number,
): Promise<RefundRow> {
  const { request_id: requestId, token_id: id, amount, unlimited } = refund;
  await lockWithFunders(trx, [id], { deletedOnly: true });
  const { rows } = await sql<{ deleted_at: number | null; wallet_id: number | null }>`
    update tokens set used_quota = used_quota - ${amount}, remain_quota = remain_quota + ${unlimited === 1 ? 0 : amount}
    where id = ${id} returning deleted_at, wallet_id`.execute(trx);
  const [token] = rows;
  if (token === undefined) throw new Error(`key ${id}, which paid, does not exist`);
  if (token.deleted_at !== null) await returnLeftover(trx, id, now);
  // Nobody paid for a call of a key without a limit before its user had a wallet.
  if (token.wallet_id === null || (unlimited === 1 && hasPaid === 0)) return refund;
  await moveInWallet(trx, token.wallet_id, { balance: amount, used: -amount });
  await trx.updateTable('refunds').set({ wallet: 1 }).where('request_id', '=', requestId).execute();
  return { ...refund, wallet: 1 };
}

async function withBalance(trx: Db, refund: RefundRow): Promise<Refund> {
  const payer = await balanceOf(trx, refund.token_id);
  const wallet = refund.wallet === 1 && payer?.wallet_id ? await walletOf(trx, payer.wallet_id) : undefined;
  const walletBalance = wallet?.balance ?? null;
  if (refund.unlimited === 1) return { ...refund, creditedTo: null, left: null, walletBalance };
  const funder = payer?.deleted_at === null ? null : (payer?.funder_id ?? null);
  const credited = funder === null ? payer : await balanceOf(trx, funder);
  return { ...refund, creditedTo: funder ?? refund.token_id, left: credited?.left ?? 0, walletBalance };
}
