import { periodAround } from '../lib/budget-period.ts';
import { Failure } from '../lib/failure.ts';
import type { Unit } from '../models/usage.ts';
import { hardBudgetsOf } from '../store/queries/budgets.ts';
import { findLent, type LentQuota } from '../store/queries/leases.ts';
import { findToken } from '../store/queries/tokens.ts';
import type { Db } from '../store/schema.ts';

interface RefusedCall {
  model: { id: string; unit: Unit };
  expectedUnits: number;
  /** Cost of the expected units, in quota. */
  amount: number;
}

/** Returns the refusal of a call that the available quota does not cover. `shortage`: see `describeShortage`. */
export function insufficientQuota({ model, expectedUnits, amount }: RefusedCall, shortage: string): Failure {
  const need = `${expectedUnits} ${model.unit} of ${model.id} need ${amount}`;
  const message = `quota: ${shortage}, which does not cover this call; ${need}.`;
  return new Failure(403, 'insufficient_user_quota', message);
}

/** The key of a refused call. `hasLimits`: it does not see the balance of the wallet. */
export interface RefusedKey {
  tokenId: number;
  hasLimits?: boolean;
}

/** Describes the quota that is too low for a call: of the key, or its limit or the wallet of its user. */
export async function describeShortage(db: Db, { tokenId, hasLimits = false }: RefusedKey): Promise<string> {
  const lent: Partial<LentQuota> = (await findLent(db, tokenId, '')) ?? {};
  const { key, wallet, isOfSubAccount, isSession } = lent;
  if (wallet === undefined && isSession === true)
    return 'the session key of a user without a wallet has no quota';
  const keyLeft = key === undefined ? Number.POSITIVE_INFINITY : Math.max(0, key.remain + key.leased);
  if (wallet === undefined) return `the key has ${keyLeft} left`;
  const walletLeft = wallet.remain + wallet.leased;
  // Both must cover a call, so the lower one decides.
  if (keyLeft <= walletLeft) return `the key has ${keyLeft} of its limit left`;
  return hasLimits || isOfSubAccount === true
    ? 'the wallet of the user has too little left'
    : `the wallet of the user has ${walletLeft} left`;
}

/** Describes the hard budget of a key that is too low for a call: the one with the smallest rest. `now`: epoch milliseconds. */
export async function describeBudget(
  db: Db,
  { tokenId, hasLimits = false }: RefusedKey,
  now: number,
): Promise<string> {
  const budgets = (await hardBudgetsOf(db, tokenId)).map((budget) => {
    const spent = now < budget.periodEnd ? budget.spent : 0;
    return { ...budget, left: Math.max(0, budget.amount - spent - budget.reserved) };
  });
  const lowest = budgets.toSorted((one, other) => one.left - other.left)[0];
  if (lowest === undefined) return 'a budget of the key is used up';
  const { period, timeZone, tokenId: of, userId, amount, left } = lowest;
  const token = await findToken(db, tokenId);
  const end = new Date(periodAround(period, timeZone, now).end).toISOString();
  const name = `the ${period} budget of the ${of === null ? 'user' : 'key'}`;
  // A sub-account does not see the budgets of its customer.
  const isSeen = token?.userId === userId && (!hasLimits || of === tokenId);
  return !isSeen
    ? `${name} has too little left until ${end}`
    : `${name} has ${left} of ${amount} left until ${end}`;
}
