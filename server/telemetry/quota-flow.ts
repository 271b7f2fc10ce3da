import type { Attributes } from '@opentelemetry/api';
import { models as catalogue } from '../../generated/catalogue.ts';
import { quotaCharged, quotaDebt, quotaRefunded, quotaReserved } from './metrics.ts';

const other: Attributes = { 'unigate.model': 'other' };
const models: ReadonlyMap<string, Attributes> = new Map(
  catalogue.map(({ id }) => [id, { 'unigate.model': id }]),
);
/** Channels may serve models of any id, which clients choose. */
const named = (model: string) => models.get(model) ?? other;

export function recordHold(model: string, quota: number): void {
  quotaReserved.add(quota, named(model));
}

/** Counts a settlement of a reservation: `charged` was taken, and `debt` is owed. */
export function recordSettlement(
  model: string,
  held: number,
  { charged, debt }: { charged: number; debt: number },
): void {
  quotaCharged.add(charged, named(model));
  quotaRefunded.add(Math.max(0, held - charged - debt), named(model));
  quotaDebt.add(debt, named(model));
}
