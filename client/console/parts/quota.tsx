import { computed } from '@preact/signals';
import { formatAmount } from '../../index.ts';
import { session } from '../session/session.ts';
import { formatCount, formatNumber } from './numbers.tsx';

/** The currency of the signed-in user. Null: amounts are shown in quota. */
export const display = computed(() => session.value?.me.display ?? null);

/** Formats an amount of quota in the currency of the user, or as a number with up to two decimals. */
export const formatQuota = (amount: number): string =>
  display.value === null ? formatNumber(amount) : formatAmount(amount, display.value);

interface QuotaProps {
  amount: number;
  /** True where a heading names the unit. */
  hasNoUnit?: boolean;
}

/** An amount of quota with its unit. In a currency, the tooltip shows the quota. */
export function Quota({ amount, hasNoUnit = false }: QuotaProps) {
  const inQuota = `${formatCount(amount)} quota`;
  if (display.value === null) return <span class="numeric">{hasNoUnit ? formatCount(amount) : inQuota}</span>;
  return (
    <span class="numeric" title={inQuota}>
      {formatAmount(amount, display.value)}
    </span>
  );
}

/** A text with prices, which `render` writes with a format of amounts. In a currency, the tooltip has quota. */
export function Prices({ render }: { render: (format: (amount: number) => string) => string }) {
  if (display.value === null) return <>{render(formatNumber)}</>;
  return <span title={`${render(formatNumber)} quota`}>{render(formatQuota)}</span>;
}
