import { isPlausible, type Unit, type Usage } from '../models/usage.ts';
import {
  type ChosenRule,
  type Conditions,
  type FigureName,
  type Figures,
  type PriceFields,
  type PriceRule,
  rangeOf,
  valuesOf,
} from '../settings/price-rules.ts';
import { exactCost } from './exact-sum.ts';

/** Finds the first rule that applies to a request. Undefined: none does. */
export function chooseRule(rules: readonly PriceRule[], fields: PriceFields): ChosenRule | undefined {
  const index = rules.findIndex(({ when }) => when === undefined || applies(when, fields));
  const rule = rules[index];
  return rule === undefined ? undefined : { number: index + 1, ...rule };
}

/** Whether a request meets conditions. */
export function applies({ duration, ...when }: Conditions, fields: PriceFields): boolean {
  if (duration !== undefined && !isWithin(fields.duration, duration)) return false;
  return (Object.keys(when) as (keyof typeof when)[]).every((field) => {
    const [value] = valuesOf(fields[field]);
    return value !== undefined && valuesOf(when[field]).includes(value);
  });
}

function isWithin(seconds: number | undefined, duration: Conditions['duration']): boolean {
  const [min, max] = rangeOf(duration);
  return seconds !== undefined && seconds >= min && seconds <= max;
}

/** Upper bounds of a usage. */
export interface UsageBounds {
  units: number;
  inputTokens: number;
  outputTokens: number;
}

/**
 * Returns the upper bounds of a usage. Without `maxOutputTokens`, all tokens of a model metered in tokens may be input as well as
 * output.
 */
export function usageBounds(unit: Unit, units: number, maxOutputTokens: number | undefined): UsageBounds {
  if (unit !== 'tokens') return { units, inputTokens: 0, outputTokens: maxOutputTokens ?? 0 };
  const outputTokens = Math.min(units, maxOutputTokens ?? units);
  return {
    units,
    inputTokens: maxOutputTokens === undefined ? units : units - outputTokens,
    outputTokens,
  };
}

const inputKinds = ['input_tokens', 'cached_tokens', 'cache_write_tokens'] as const satisfies FigureName[];

/** Returns the figures of the most expensive usage within the bounds. */
export function boundFigures(
  { per = {} }: PriceRule,
  { units, inputTokens, outputTokens }: UsageBounds,
): Figures {
  const priced = inputKinds.filter((kind) => per[kind] !== undefined);
  const dearest = priced.toSorted((left, right) => (per[right] ?? 0) - (per[left] ?? 0))[0];
  const values = {
    ...unitFigures(units),
    input_tokens: 0,
    cached_tokens: 0,
    cache_write_tokens: 0,
    ...(dearest !== undefined && { [dearest]: inputTokens }),
    output_tokens: outputTokens,
    completion_tokens: outputTokens,
  };
  return onlyPriced(per, values);
}

/** Returns the figures of a usage that a rule prices. Cached tokens count as input unless they have a price. */
export function usageFigures({ per = {} }: PriceRule, usage: Usage): Figures {
  const { units, inputTokens, outputTokens, cachedTokens = 0, cacheWriteTokens = 0 } = usage;
  const cached = per.cached_tokens === undefined ? 0 : cachedTokens;
  const written = per.cache_write_tokens === undefined ? 0 : cacheWriteTokens;
  const values = {
    ...unitFigures(units),
    input_tokens: inputTokens - cached - written,
    cached_tokens: cached,
    cache_write_tokens: written,
    output_tokens: outputTokens,
    completion_tokens: outputTokens,
  };
  return onlyPriced(per, values);
}

const unitFigures = (units: number) => ({
  units,
  characters: units,
  seconds: units,
  actions: units,
  tracks: units,
  tokens: units,
});

function onlyPriced(
  per: NonNullable<PriceRule['per']>,
  values: Readonly<Record<FigureName, number>>,
): Figures {
  const names = Object.keys(per) as FigureName[];
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}

/** A usage as a provider reports it. An absent figure was not reported. */
export type ReportedUsage = Partial<Usage>;

/**
 * Returns the usage to charge under a rule. A figure that the provider did not report, or that is a fault of the provider, is
 * replaced with its upper bound; `replaced` has the implausible ones. The units of a model that is metered in tokens remain
 * the sum of the tokens.
 */
export function usageUnderRule(
  { per = {} }: PriceRule,
  reported: ReportedUsage,
  bounds: UsageBounds,
): { usage: Usage; replaced: string[] } {
  const replaced: string[] = [];
  const figure = (name: keyof UsageBounds, isPriced: boolean) => {
    const value = reported[name];
    if (value === undefined) return isPriced ? bounds[name] : 0;
    const isValid = name === 'units' ? Number.isFinite(value) : Number.isSafeInteger(value);
    if (isValid && (isPriced ? isPlausible(value, bounds[name]) : value >= 0)) return value;
    replaced.push(name);
    return bounds[name];
  };
  const isInputPriced = inputKinds.some((kind) => per[kind] !== undefined);
  const isOutputPriced = per.output_tokens !== undefined || per.completion_tokens !== undefined;
  const counts = {
    units: figure('units', true),
    inputTokens: figure('inputTokens', isInputPriced),
    outputTokens: figure('outputTokens', isOutputPriced),
  };
  const isInconsistent = replaced.length > 0 && areTokens(bounds);
  const consistent = isInconsistent ? consistentTokens(counts, isInputPriced || isOutputPriced) : counts;
  const cachedTokens = partOf(consistent.inputTokens, reported.cachedTokens);
  const cacheWriteTokens = partOf(consistent.inputTokens - cachedTokens, reported.cacheWriteTokens);
  return { usage: { ...consistent, cachedTokens, cacheWriteTokens }, replaced };
}

/** Whether the units are the input and output tokens. */
function areTokens({ units, inputTokens, outputTokens }: UsageBounds): boolean {
  return inputTokens > 0 || (units > 0 && outputTokens === units);
}

/** Makes the units the sum of the tokens again after figures were replaced. Figures with a price stay as they are. */
function consistentTokens(
  { units, inputTokens, outputTokens }: UsageBounds,
  arePriced: boolean,
): UsageBounds {
  if (arePriced) return { units: inputTokens + outputTokens, inputTokens, outputTokens };
  const input = Math.min(inputTokens, units);
  return { units, inputTokens: input, outputTokens: units - input };
}

function partOf(whole: number, part = 0): number {
  return Number.isSafeInteger(part) && part >= 0 ? Math.min(part, whole) : 0;
}

/** Returns the cost of figures under a rule, times a ratio, rounded up. @throws RangeError for an invalid figure or cost */
export function ruleCost({ per = {}, minimum = 0 }: PriceRule, figures: Figures, ratio: number): number {
  const names = Object.keys(per) as FigureName[];
  return exactCost(
    names.map((name) => [figures[name] ?? 0, per[name] ?? 0] as const),
    minimum,
    ratio,
  );
}
