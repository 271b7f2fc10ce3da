import { UnigateError } from '../errors.ts';
import { formatAmount } from '../format-amount.ts';
import type { Unigate } from '../unigate.ts';

/** Formats an amount of quota for a person. */
export type AmountFormat = (quota: number) => string;

/** Formats an amount in quota units. */
export const inQuota: AmountFormat = String;

/**
 * Returns the format of amounts for the user of the key. Amounts stay in quota if the gateway sets no currency, or if it
 * does not answer, because the command itself has succeeded by then.
 */
export async function readAmountFormat(client: Unigate, signal: AbortSignal): Promise<AmountFormat> {
  try {
    const { display } = await client.me.retrieve({ signal });
    return display ? (quota) => formatAmount(quota, display, 'en') : inQuota;
  } catch (error) {
    if (error instanceof UnigateError) return inQuota;
    throw error;
  }
}
