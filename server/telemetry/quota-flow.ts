import type { Attributes } from '@opentelemetry/api';
import { models as catalogue } from '../../generated/catalogue.ts';
import { quotaCharged, quotaRefunded, quotaReserved } from './metrics.ts';

const other: Attributes = { 'unigate.model': 'other' };
const models: ReadonlyMap<string, Attributes> = new Map(
  catalogue.map(({ id }) => [id, { 'unigate.model': id }]),
);
/** Channels may serve models of any id, which clients choose. */
const named = (model: string) => models.get(model) ?? other;

export function recordHold(model: string, quota: number): void {
  quotaReserved.add(quota, named(model));
}

/** What was held is settled: charged as far as it goes, and the rest given back. */
export function recordSettlement(model: string, held: number, charged: number): void {
  const taken = Math.min(charged, held);
  quotaCharged.add(taken, named(model));
  quotaRefunded.add(held - taken, named(model));
}
