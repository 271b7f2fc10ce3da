import type { Attributes } from '@opentelemetry/api';
import { models as catalogue } from '../../generated/catalogue.ts';
import { quotaCharged, quotaDebt, quotaRefunded, quotaReserved } from './metrics.ts';

const other: Attributes = { 'unigate.model': 'other' };
const models: ReadonlyMap<string, Attributes> = new Map(
  catalogue.map(({ id }) => [id, { 'unigate.model': id }]),
);
/** Model ids outside the catalogue share one label, since clients choose them. */
const named = (model: string) => models.get(model) ?? other;

export function recordReservation(model: string, quota: number): void {
  quotaReserved.add(quota, named(model));
}

/** Counts the settlement of a reservation. */
export function recordSettlement(
  model: string,
  reserved: number,
  { charged, debt }: { charged: number; debt: number },
): void {
  quotaCharged.add(charged, named(model));
  quotaRefunded.add(Math.max(0, reserved - charged - debt), named(model));
  quotaDebt.add(debt, named(model));
}
