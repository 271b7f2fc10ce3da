import type { LogItem, Model } from '../../index.ts';
import { formatNumber } from './numbers.tsx';

type PriceRule = NonNullable<Model['price_rules']>[number];
type AppliedPriceRule = NonNullable<LogItem['price_rule']>;

/** Formats an amount of quota. */
type Format = (amount: number) => string;

/** Returns a price, times the ratio of the group unless it is 1. */
export function priceText(price: number, ratio: number, format: Format): string {
  if (ratio === 1) return format(price);
  return `${format(price)} × ${formatNumber(ratio)} = ${format(price * ratio)}`;
}

/** Returns a price rule in one line, such as `resolution 1080p: 5.1 per completion token`. */
export function ruleText({ when, per = {}, minimum }: PriceRule, ratio: number, format: Format): string {
  const conditions = Object.entries(when ?? {}).map(
    ([field, value]) => `${words(field)} ${valueText(value)}`,
  );
  const prices = Object.entries(per).map(
    ([figure, price]) => `${priceText(price, ratio, format)} per ${words(figure).replace(/s$/, '')}`,
  );
  const least = minimum === undefined ? [] : [`at least ${priceText(minimum, ratio, format)}`];
  const start = conditions.length === 0 ? '' : `${conditions.join(', ')}: `;
  return `${start}${[...prices, ...least].join(', ')}`;
}

/** Returns the priced figures of a charge, such as `108,000 completion tokens × 5.1`. */
export function figuresText({ per = {}, figures }: AppliedPriceRule, format: Format): string {
  return Object.entries(per)
    .map(([figure, price]) => `${formatNumber(figures[figure] ?? 0)} ${words(figure)} × ${format(price)}`)
    .join(' + ');
}

const words = (name: string) => name.replaceAll('_', ' ');

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.join(' or ');
  if (typeof value !== 'object' || value === null) return String(value);
  const { min, max } = value as { min?: number; max?: number };
  return [min === undefined ? '' : `from ${min}`, max === undefined ? '' : `up to ${max}`]
    .filter(Boolean)
    .join(' ');
}
