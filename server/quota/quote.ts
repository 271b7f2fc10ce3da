import { isPlausible, type Usage } from '../models/usage.ts';
import type { AppliedRule, ChosenRule, ReportedFields } from '../settings/price-rules.ts';
import { alternatives } from './alternatives.ts';
import {
  chooseRule,
  type ReportedUsage,
  type UsageBounds,
  usageFigures,
  usageUnderRule,
} from './price-rules.ts';
import { boundsOf, type PricedRequest } from './priced-request.ts';
import { type CostTerms, costOf, highestCost, type Prices, type PriceTerms } from './prices.ts';

/** The price of a request before it runs. */
export interface Quote {
  /** The current price. `rule` is that of the most expensive usage. */
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
  const terms = prices.terms(request.model.id, group, request.priceFields);
  const { rule, amount } = highestUsage(request, terms);
  return { terms: rule === terms.rule ? terms : { ...terms, rule }, amount };
}

/** The most expensive usage of a request. */
interface HighestUsage {
  rule: ChosenRule | null;
  bounds: UsageBounds;
  amount: number;
}

/**
 * Returns the most expensive usage of a request, over all values that the provider may choose for its open fields.
 *
 * @throws RangeError when the cost is 2^53 or more
 */
export function highestUsage(request: PricedRequest, terms: CostTerms): HighestUsage {
  const { model, expectedUnits: units, maxOutputTokens } = request;
  const amount = highestCost({ unit: model.unit, units, maxOutputTokens }, terms);
  let highest: HighestUsage = { rule: terms.rule, bounds: boundsOf(request), amount };
  for (const { fields, bounds } of alternatives(request, terms)) {
    const rule = chooseRule(terms.rules ?? [], fields) ?? terms.rule;
    const expected = { unit: model.unit, units: bounds.units, maxOutputTokens: bounds.outputTokens };
    const cost = highestCost(expected, { ...terms, rule });
    if (cost > highest.amount) highest = { rule, bounds, amount: cost };
  }
  return highest;
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
export function appliedRule(
  { rule }: Pick<CostTerms, 'rule'>,
  usage: Usage,
  reported: ReportedFields = {},
): AppliedRule | null {
  const changed = Object.keys(reported).length > 0 && { reported };
  return rule && { ...rule, figures: usageFigures(rule, usage), ...changed };
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
export function hasPrice(usage: Usage, terms: CostTerms): boolean {
  try {
    costOf(usage, terms);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
