import type { Attributes } from '@opentelemetry/api';
import { models as catalogue } from '../../generated/catalogue.ts';
import { quotaCharged, quotaDebt, quotaRefunded, quotaReserved } from './metrics.ts';

const other: Attributes = { 'unigate.model': 'other' };
const models: ReadonlyMap<string, Attributes> = new Map(
  catalogue.map(({ id }) => [id, { 'unigate.model': id }]),
);
/** Clients can choose ids of models outside the catalog, so these share one label. */
const attributesOf = (model: string) => models.get(model) ?? other;

export function recordReservation(model: string, quota: number): void {
  quotaReserved.add(quota, attributesOf(model));
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
