import { inject } from 'vitest';
import type { components } from '../../generated/http.ts';
import { callAdmin, newToken, newUser } from './operator.ts';

/** Creates a daily budget of a new key. */
export async function newBudget(): Promise<components['schemas']['Budget']> {
  const target = inject('gateway');
  const user = await newUser(target);
  const { id: token_id } = await newToken(target, user.id);
  const body = { token_id, amount: 10, period: 'daily' };
  return callAdmin(target, 'createBudget', { body });
}

/** Invalid in a new budget and in a change of one. */
export const invalidBudgetFields = {
  'an amount below 0': { change: { amount: -1 }, field: 'amount', limit: 0 },
  'an amount with a fraction': { change: { amount: 0.5 }, field: 'amount' },
  'a string for hard': { change: { hard: 'yes' }, field: 'hard' },
  'a threshold of 0': { change: { thresholds: [0] }, field: 'thresholds.0', limit: 1 },
  'an unknown field': { change: { currency: 'EUR' }, field: 'currency' },
};
