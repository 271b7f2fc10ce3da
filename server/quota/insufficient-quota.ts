import { Failure } from '../lib/failure.ts';
import type { Unit } from '../models/usage.ts';
import { findLent, type LentQuota } from '../store/queries/leases.ts';
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
  const { key, wallet }: Partial<LentQuota> = (await findLent(db, tokenId, '')) ?? {};
  const keyLeft = key === undefined ? Number.POSITIVE_INFINITY : Math.max(0, key.remain + key.leased);
  if (wallet === undefined) return `the key has ${keyLeft} left`;
  const walletLeft = wallet.remain + wallet.leased;
  // Both must cover a call, so the lower one decides.
  if (keyLeft <= walletLeft) return `the key has ${keyLeft} of its limit left`;
  return hasLimits
    ? 'the wallet of the user has too little left'
    : `the wallet of the user has ${walletLeft} left`;
}
