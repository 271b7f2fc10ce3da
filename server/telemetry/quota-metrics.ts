import type { Attributes } from '@opentelemetry/api';
import { models as catalogue } from '../../generated/catalogue.ts';
import { quotaCharged, quotaCost, quotaDebt, quotaRefunded, quotaReserved } from './metrics.ts';

const other: Attributes = { 'unigate.model': 'other' };
const models = new Map<string, Attributes>(catalogue.map(({ id }) => [id, { 'unigate.model': id }]));

/** Gives models a label of their own, for the rest of the process. */
export function addModelLabels(ids: Iterable<string>): void {
  for (const id of ids) if (!models.has(id)) models.set(id, { 'unigate.model': id });
}

/** Patterns let clients choose ids of other models, so these share one label. */
const attributesOf = (model: string) => models.get(model) ?? other;

export function recordReservation(model: string, quota: number): void {
  quotaReserved.add(quota, attributesOf(model));
}

/** Counts the cost of a call or task at a provider. */
export function recordCost(model: string, cost: number): void {
  quotaCost.add(cost, attributesOf(model));
}

/** Counts the settlement of a reservation. */
export function recordSettlement(
  model: string,
  reserved: number,
  { charged, debt }: { charged: number; debt: number },
): void {
  quotaCharged.add(charged, attributesOf(model));
  quotaRefunded.add(Math.max(0, reserved - charged - debt), attributesOf(model));
  quotaDebt.add(debt, attributesOf(model));
}
