import type { Kysely } from 'kysely';
import { leftOf } from '../queries/leases.ts';
import type { Database } from '../schema.ts';
import { grant } from './accounts.ts';
import { type Intent, recordChange } from './changes.ts';
import type { Command } from './command.ts';

/** No grant gives more, or leaves a key with more, so that what it holds and lends still fits when it comes back. */
export const mostQuota = 10 ** 15;

export interface NewGrant {
  tokenId: number;
  /** Below zero: taken away. */
  amount: number;
  reason: string;
  /** The admin's own name for the request: another one of that name is the same. */
  idempotencyKey: string | null;
  change: Intent;
}

/** A grant, and what its key has left now. */
export interface Granted {
  id: number;
  tokenId: number;
  amount: number;
  reason: string;
  /** Epoch milliseconds. */
  createdAt: number;
  left: number;
  /** Part of the amount that settled a debt of the key. */
  debtSettled: number;
  /** Debt that the key still has. */
  debt: number;
}

export type GrantResult =
  | { outcome: 'granted'; grant: Granted }
  /** The key is not there. */
  | { outcome: 'not_found' }
  /** The admin made another grant under that name. */
  | { outcome: 'reused' }
  /** Nothing is changed: the key has too little left, or would have more than it may. */
  | { outcome: 'out_of_range'; left: number };

/**
 * Gives quota to a key, or takes some of what it has left; once, where the request has a name. What is given settles the
 * key's debt first. Taking quota back leaves a debt as it is.
 */
export const grantQuota: Command<NewGrant, GrantResult> = async (trx, order) => {
  const { tokenId, amount, reason, idempotencyKey, change } = order;
  // First, since it is what tells a repeat: whoever sends the same at the same time waits here.
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
  if (inserted === undefined) return repeated(trx, order);
  const { id } = inserted;
  const { debt: owed } = (await lockDebt(trx, tokenId)) ?? { debt: 0 };
  const debtSettled = Math.max(0, Math.min(owed, amount));
  const gained = amount - debtSettled;
  const added = await trx
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
    .returning([leftOf('tokens').as('left'), 'debt'])
    .executeTakeFirst();
  if (added === undefined) {
    await trx.deleteFrom('grants').where('id', '=', id).execute();
    const token = await tokenOf(trx, tokenId);
    if (token === undefined || token.deleted_at !== null) return { outcome: 'not_found' };
    return { outcome: 'out_of_range', left: token.left };
  }
  if (debtSettled > 0)
    await trx.updateTable('grants').set({ debt_settled: debtSettled }).where('id', '=', id).execute();
  const { left, debt } = added;
  const details = { amount, reason, left, ...(debtSettled > 0 && { debt_settled: debtSettled, debt }) };
  await recordChange(trx, { ...change, subject: `token ${tokenId}`, details });
  const made = { id, tokenId, amount, reason, createdAt: change.now, left, debtSettled, debt };
  return { outcome: 'granted', grant: made };
};

/** Debt of a key, which stays the same until the end of the transaction. */
function lockDebt(trx: Kysely<Database>, tokenId: number) {
  return trx
    .updateTable('tokens')
    .set((row) => ({ used_quota: row.ref('used_quota') }))
    .where('id', '=', tokenId)
    .returning('debt')
    .executeTakeFirst();
}

/** What an earlier request of that name has come to. */
async function repeated(
  trx: Kysely<Database>,
  { tokenId, amount, reason, idempotencyKey, change }: NewGrant,
): Promise<GrantResult> {
  const earlier = await trx
    .selectFrom('grants')
    .select(['id', 'token_id', 'amount', 'reason', 'created_at', 'debt_settled'])
    .where('given_by', '=', change.userId)
    .where('idempotency_key', '=', idempotencyKey)
    .executeTakeFirstOrThrow();
  const isSame = earlier.token_id === tokenId && earlier.amount === amount && earlier.reason === reason;
  if (!isSame) return { outcome: 'reused' };
  const token = await tokenOf(trx, tokenId);
  const { left, debt } = token ?? { left: 0, debt: 0 };
  const { id, created_at: createdAt, debt_settled: debtSettled } = earlier;
  return { outcome: 'granted', grant: { id, tokenId, amount, reason, createdAt, left, debtSettled, debt } };
}

const tokenOf = (trx: Kysely<Database>, id: number) =>
  trx
    .selectFrom('tokens')
    .select([leftOf('tokens').as('left'), 'debt', 'deleted_at'])
    .where('id', '=', id)
    .executeTakeFirst();
