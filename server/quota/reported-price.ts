import { isPlausible } from '../models/usage.ts';
import { convertVideoTokens } from '../models/video-tokens.ts';
import type { ChosenRule, PriceFields, PriceRule, ReportedFields } from '../settings/price-rules.ts';
import { isPriced } from './alternatives.ts';
import { applies, chooseRule, type ReportedUsage, type UsageBounds, usageBounds } from './price-rules.ts';
import type { PricedRequest } from './priced-request.ts';
import type { CostTerms } from './prices.ts';
import { hasPrice } from './quote.ts';

type Report = Omit<ReportedFields, 'duration'>;

const reportable = ['resolution', 'ratio', 'duration', 'audio'] as const satisfies (keyof ReportedFields)[];

/** The price of a request with what the provider reported in place of what the request asked for. */
interface ReportedPrice {
  terms: CostTerms;
  bounds: UsageBounds;
  fields: PriceFields;
  /** The fields that the rules depend on and that the provider reported with other values than the request. */
  reported: ReportedFields;
}

/**
 * Returns the price of a request by the fields and the length that the provider reports. A length that is a fault of the provider is
 * ignored, and so is a report whose price is 2^53 or more.
 */
export function reportedPrice(
  { model, expectedUnits, maxOutputTokens: tokens, priceFields }: PricedRequest,
  terms: CostTerms,
  { units }: ReportedUsage,
  report: Report = {},
): ReportedPrice {
  const fields = priceFields?.() ?? {};
  const bounds = (to: PriceFields) =>
    usageBounds(model.unit, expectedUnits, tokens && convertVideoTokens(tokens, fields, to));
  const changed = differences(fields, { ...report, ...lengthOf(units, expectedUnits) });
  const settled = { ...fields, ...changed };
  const rules = rulesForReports(terms.rules ?? [], fields);
  const rule = chooseRule(rules, settled) ?? terms.rule;
  const reported = Object.fromEntries(Object.entries(changed).filter(([name]) => isPriced(rules, name)));
  const price = { terms: { ...terms, rule }, bounds: bounds(settled), fields: settled, reported };
  if (hasPrice(price.bounds, price.terms)) return price;
  return { terms, bounds: bounds(fields), fields, reported: {} };
}

function lengthOf(units: number | undefined, expected: number): ReportedFields {
  if (units === undefined || units <= 0 || !isPlausible(units, expected)) return {};
  // A video of 5.04 seconds was asked for as one of 5.
  return { duration: Math.max(1, Math.round(units)) };
}

/** Returns the reported fields that the request has with another value. */
function differences(fields: PriceFields, reported: ReportedFields): ReportedFields {
  const isVideo = fields.duration !== undefined;
  const changed = reportable.filter(
    (name) => isVideo && reported[name] !== undefined && textOf(reported[name]) !== textOf(fields[name]),
  );
  return Object.fromEntries(changed.map((name) => [name, reported[name]]));
}

const textOf = (value: unknown) => String(value).toLowerCase();

/** Returns the rules that can apply to a request whatever its provider reports, with their positions. */
export function rulesForReports(rules: readonly PriceRule[], fields: PriceFields): ChosenRule[] {
  const numbered = rules.map((rule, index): ChosenRule => ({ number: index + 1, ...rule }));
  const possible = numbered.filter(
    ({ when }) => when === undefined || applies(withoutReportable(when), fields),
  );
  const last = possible.findIndex(({ when = {} }) => reportable.every((name) => when[name] === undefined));
  return last < 0 ? possible : possible.slice(0, last + 1);
}

function withoutReportable(when: NonNullable<PriceRule['when']>): NonNullable<PriceRule['when']> {
  const entries = Object.entries(when).filter(([name]) => !reportable.some((one) => one === name));
  return Object.fromEntries(entries);
}
