import { convertVideoTokens } from '../models/video-tokens.ts';
import { type OpenFields, type PriceFields, type PriceRule, rangeOf } from '../settings/price-rules.ts';
import { type UsageBounds, usageBounds } from './price-rules.ts';
import type { PricedRequest } from './priced-request.ts';
import type { CostTerms } from './prices.ts';

/** A video that a provider may make of a request. */
interface Alternative {
  fields: PriceFields;
  /** Upper bounds of its usage. */
  bounds: UsageBounds;
}

/** Returns the videos that a provider may make of a request, as far as the rules distinguish them. Empty without open fields. */
export function alternatives(
  { model, expectedUnits, maxOutputTokens = 0, priceFields, openFields }: PricedRequest,
  { rules = [] }: Pick<CostTerms, 'rules'>,
): Alternative[] {
  if (openFields === undefined || rules.length === 0) return [];
  const values = {
    resolution: isPriced(rules, 'resolution') ? openFields.resolution : undefined,
    ratio: isPriced(rules, 'ratio') ? openFields.ratio : undefined,
    duration: openFields.duration && lastSeconds(rules, openFields.duration),
  };
  if (Object.values(values).every((list) => list === undefined)) return [];
  const request = priceFields?.() ?? {};
  let list = [request];
  for (const [name, options] of Object.entries(values))
    if (options !== undefined)
      list = list.flatMap((one) => [one, ...options.map((value) => ({ ...one, [name]: value }))]);
  return list.map((fields) => {
    const units = values.duration === undefined ? expectedUnits : (fields.duration ?? expectedUnits);
    return {
      fields,
      bounds: usageBounds(model.unit, units, convertVideoTokens(maxOutputTokens, request, fields)),
    };
  });
}

/** Whether any rule has a condition for a field. */
export function isPriced(rules: readonly PriceRule[], field: string): boolean {
  return rules.some(({ when = {} }) => Object.hasOwn(when, field));
}

/** Returns the last length of each range in which the same rules apply. Undefined: no rule depends on the length. */
function lastSeconds(
  rules: readonly PriceRule[],
  [shortest, longest]: NonNullable<OpenFields['duration']>,
): number[] | undefined {
  if (!isPriced(rules, 'duration')) return undefined;
  const ends = rules.flatMap(({ when }) => {
    const [min, max] = rangeOf(when?.duration);
    return [Math.ceil(min) - 1, Math.floor(max), longest];
  });
  return [...new Set(ends)].filter((seconds) => seconds >= shortest && seconds <= longest);
}
