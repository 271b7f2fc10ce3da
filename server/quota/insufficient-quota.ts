import { Failure } from '../lib/failure.ts';
import type { Unit } from '../models/usage.ts';

interface RefusedCall {
  model: { id: string; unit: Unit };
  expectedUnits: number;
  /** Cost of the expected units, in quota. */
  amount: number;
}

/** Returns the refusal of a call that the key's quota does not cover. `remaining` is the key's available quota. */
export function insufficientQuota({ model, expectedUnits, amount }: RefusedCall, remaining: number): Failure {
  const need = `${expectedUnits} ${model.unit} of ${model.id} need ${amount}`;
  const message = `quota: the key has ${remaining} left, which does not cover this call; ${need}.`;
  return new Failure(403, 'insufficient_user_quota', message);
}
