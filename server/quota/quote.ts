import { isPlausible, type Unit, type Usage } from '../models/usage.ts';
import type { AppliedRule, PriceFields } from '../settings/price-rules.ts';
import {
  type ReportedUsage,
  type UsageBounds,
  usageBounds,
  usageFigures,
  usageUnderRule,
} from './price-rules.ts';
import { type CostTerms, costOf, highestCost, type Prices, type PriceTerms } from './prices.ts';

/** The properties of a request that decide its price. */
export interface PricedRequest {
  model: { id: string; unit: Unit };
  /** Upper bound of the units that the request uses. */
  expectedUnits: number;
  /** Upper bound of the output tokens. Default: all units of a model that is metered in tokens, else 0. */
  maxOutputTokens?: number;
  /** Returns the fields that the price depends on. Called only if the model has price rules. */
  priceFields?: () => PriceFields;
}

/** The price of a request before it runs. */
export interface Quote {
  readonly terms: PriceTerms;
  /** Quota to reserve: the cost of the most expensive usage. */
  readonly amount: number;
}

/**
 * Returns the current price of a request for a group.
 *
 * @throws Failure 404 when the model has no price, RangeError when the cost is 2^53 or more
 */
export function quoteFor(prices: Pick<Prices, 'terms'>, request: PricedRequest, group: string): Quote {
  const { model, expectedUnits: units, maxOutputTokens, priceFields } = request;
  const terms = prices.terms(model.id, group, priceFields);
  return { terms, amount: highestCost({ unit: model.unit, units, maxOutputTokens }, terms) };
}

/** Returns the upper bounds of the usage of a request. */
export function boundsOf({ model, expectedUnits, maxOutputTokens }: PricedRequest): UsageBounds {
  return usageBounds(model.unit, expectedUnits, maxOutputTokens);
}

/**
 * Returns the usage to charge for a report. A figure that the provider did not report, or that is a fault of the provider, is
 * replaced with its upper bound; `replaced` has the implausible ones. The usage has a price if its bounds have one.
 */
export function chargeableUsage(
  reported: ReportedUsage,
  terms: CostTerms,
  bounds: UsageBounds,
): { usage: Usage; replaced: readonly string[] } {
  if (terms.rule !== null) {
    const { usage, replaced } = usageUnderRule(terms.rule, reported, bounds);
    return hasPrice(usage, terms) ? { usage, replaced } : { usage: bounds, replaced: Object.keys(bounds) };
  }
  const { units = bounds.units, inputTokens = 0, outputTokens = 0 } = reported;
  const usage = { ...reported, units, inputTokens, outputTokens };
  const isValid = isPlausible(units, bounds.units) && isCount(inputTokens) && isCount(outputTokens);
  if (isValid && hasPrice(usage, terms)) return { usage, replaced: [] };
  return { usage: withinBounds(usage, bounds), replaced: ['units'] };
}

/** Returns the rule of the terms with the figures of a usage. Null: every unit has the same price. */
export function appliedRule({ rule }: Pick<CostTerms, 'rule'>, usage: Usage): AppliedRule | null {
  return rule && { ...rule, figures: usageFigures(rule, usage) };
}

/** Replaces the units with their upper bound and limits the tokens to it. */
function withinBounds({ inputTokens, outputTokens }: Usage, bounds: UsageBounds): Usage {
  const { units } = bounds;
  const input = isCount(inputTokens) ? Math.min(inputTokens, units) : 0;
  // A video has more completion tokens than units.
  const maxOutput = bounds.outputTokens > units ? bounds.outputTokens : units - input;
  return {
    units,
    inputTokens: input,
    outputTokens: isCount(outputTokens) ? Math.min(outputTokens, maxOutput) : 0,
  };
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** Whether the price of the usage is below 2^53. */
function hasPrice(usage: Usage, terms: CostTerms): boolean {
  try {
    costOf(usage, terms);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
