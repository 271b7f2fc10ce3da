import type { Unit } from '../models/usage.ts';
import type { OpenFields, PriceFields } from '../settings/price-rules.ts';
import { type UsageBounds, usageBounds } from './price-rules.ts';

/** The properties of a request that decide its price. */
export interface PricedRequest {
  model: { id: string; unit: Unit };
  /** Upper bound of the units that the request uses. */
  expectedUnits: number;
  /** Upper bound of the output tokens. Default: all units of a model that is metered in tokens, else 0. */
  maxOutputTokens?: number;
  /** Returns the fields that the price depends on. Called only if the model has price rules. */
  priceFields?: () => PriceFields;
  /** Those of them that the provider chooses. `priceFields` has the highest value of each. Default: none. */
  openFields?: OpenFields;
}

/** Returns the upper bounds of the usage of a request. */
export function boundsOf({ model, expectedUnits, maxOutputTokens }: PricedRequest): UsageBounds {
  return usageBounds(model.unit, expectedUnits, maxOutputTokens);
}
