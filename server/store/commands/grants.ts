import type { Db } from '../schema.ts';
import { grant } from './accounts.ts';
import { availableQuota, balanceOf, lockToken } from './balances.ts';
import { type Intent, recordChange } from './changes.ts';

/** Largest grant and largest balance after one, so that the sum with reserved and leased quota stays an exact integer. */
export const mostQuota = 10 ** 15;

interface NewGrant {
  tokenId: number;
  /** Below zero: taken from the key. */
  amount: number;
  reason: string;
  idempotencyKey: string | null;
  change: Intent;
}

/** A grant, with the quota and the debt of its key after it. */
interface Granted {
  id: number;
  tokenId: number;
  amount: number;
  reason: string;
  /** Epoch milliseconds. */
  createdAt: number;
  left: number;
  /** Part of the amount that settled a debt of the key. */
  debtSettled: number;
  debt: number;
}

export type GrantResult =
  | { outcome: 'granted'; grant: Granted }
  | { outcome: 'not_found' }
  /** The idempotency key belongs to another grant of the admin. */
  | { outcome: 'reused' }
  /** Nothing is changed: the key has too little quota, or would have more than `mostQuota`. */
  | { outcome: 'out_of_range'; left: number };

/** Adds quota to a key or takes quota from it, once for an idempotency key. Added quota first settles the key's debt. */
export async function grantQuota(trx: Db, order: NewGrant): Promise<GrantResult> {
  const { tokenId, amount, reason, idempotencyKey, change } = order;
  // First, since it detects a repeated request, also a concurrent one.
  const inserted = await trx
    .insertInto('grants')
    .values({
      ...grant(tokenId, amount, change.now),
      given_by: change.userId,
      idempotency_key: idempotencyKey,
      reason,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (inserted === undefined) return repeatedGrant(trx, order);
  const { id } = inserted;
  const owed = (await lockToken(trx, tokenId))?.debt ?? 0;
  const debtSettled = Math.max(0, Math.min(owed, amount));
  const gained = amount - debtSettled;
  const updated = await trx
    .updateTable('tokens')
    .set((row) => ({
      remain_quota: row('remain_quota', '+', gained),
      used_quota: row('used_quota', '+', debtSettled),
      debt: row('debt', '-', debtSettled),
      ...(amount < 0 && { lease_epoch: row('lease_epoch', '+', 1) }),
    }))
    .where('id', '=', tokenId)
    .where('deleted_at', 'is', null)
    .where('remain_quota', amount < 0 ? '>=' : '<=', amount < 0 ? -amount : mostQuota - gained)
    .returning([availableQuota.as('left'), 'debt'])
    .executeTakeFirst();
  if (updated === undefined) {
    await trx.deleteFrom('grants').where('id', '=', id).execute();
    const token = await balanceOf(trx, tokenId);
    if (token === undefined || token.deleted_at !== null) return { outcome: 'not_found' };
    return { outcome: 'out_of_range', left: token.left };
  }
  if (debtSettled > 0)
    await trx.updateTable('grants').set({ debt_settled: debtSettled }).where('id', '=', id).execute();
  const { left, debt } = updated;
  const details = { amount, reason, left, ...(debtSettled > 0 && { debt_settled: debtSettled, debt }) };
  await recordChange(trx, { ...change, subject: `token ${tokenId}`, details });
  const granted = { id, tokenId, amount, reason, createdAt: change.now, left, debtSettled, debt };
  return { outcome: 'granted', grant: granted };
}

/** Returns the result of an earlier request with the same idempotency key. */
async function repeatedGrant(
  trx: Db,
  { tokenId, amount, reason, idempotencyKey, change }: NewGrant,
): Promise<GrantResult> {
  const earlier = await trx
    .selectFrom('grants')
    .select(['id', 'token_id', 'amount', 'reason', 'created_at as createdAt', 'debt_settled as debtSettled'])
    .where('given_by', '=', change.userId)
    .where('idempotency_key', '=', idempotencyKey)
    .executeTakeFirstOrThrow();
  const isSame = earlier.token_id === tokenId && earlier.amount === amount && earlier.reason === reason;
  if (!isSame) return { outcome: 'reused' };
  const { left, debt } = (await balanceOf(trx, tokenId)) ?? { left: 0, debt: 0 };
  const { id, createdAt, debtSettled } = earlier;
  return { outcome: 'granted', grant: { id, tokenId, amount, reason, createdAt, left, debtSettled, debt } };
}
