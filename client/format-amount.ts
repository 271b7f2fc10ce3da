import type { MeReply } from './me.ts';

/** The currency in which people see amounts of quota, from `GET /api/me`. */
export type AmountDisplay = NonNullable<MeReply['display']>;

/** Older JavaScript engines support no more. */
const maxFractionDigits = 20;

/**
 * Formats an amount of quota in a currency, with the digits of the currency and at least two significant digits:
 * `€1,200.00`, `€0.000042`. `locales` default to those of the program.
 */
export function formatAmount(
  quota: number,
  { quota_per_unit: quotaPerUnit, currency }: AmountDisplay,
  locales?: Intl.LocalesArgument,
): string {
  const value = quota === 0 ? 0 : quota / quotaPerUnit;
  const options = { style: 'currency', currency } as const;
  const { maximumFractionDigits: digits = 0 } = new Intl.NumberFormat(locales, options).resolvedOptions();
  const significant = value === 0 ? 0 : 1 - Math.floor(Math.log10(Math.abs(value)));
  return new Intl.NumberFormat(locales, {
    ...options,
    minimumFractionDigits: digits,
    maximumFractionDigits: Math.min(Math.max(digits, significant), maxFractionDigits),
  }).format(value);
}
