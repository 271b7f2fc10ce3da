import type { Charge } from '../store/queries/charges.ts';
import { costOf } from './prices.ts';

/** Returns units times unit price times group ratio, rounded up. */
export function calculatedCost({ units, unit_price, group_ratio }: Charge): number {
  return costOf(units, { unitPrice: unit_price, groupRatio: group_ratio });
}

/** Explains a charge as arithmetic, one step a line. Only operators see the reason of a refund. */
export function explainCharge(charge: Charge, { forOperator }: { forOperator: boolean }): string[] {
  const { reserved, unlimited, debt, refund, quota } = charge;
  const of = unlimited === 1 ? ' by a key without a limit' : '';
  const lines = [calculation(charge), `reserved ${reserved}${of}`, `charged ${quota}${reasonOf(charge)}`];
  if (debt > 0) lines.push(`debt ${debt}: the key could not pay more`);
  if (refund !== null)
    lines.push(
      `refunded ${refund.amount}${forOperator ? `: ${refund.reason}` : ''}`,
      `net ${quota} - ${refund.amount} = ${quota - refund.amount}`,
    );
  return lines;
}

function calculation(charge: Charge): string {
  const { units, unit, unit_price, group_ratio } = charge;
  const cost = calculatedCost(charge);
  // The noise of floating point begins behind the 15th digit.
  const product = Number((units * unit_price * group_ratio).toPrecision(15));
  const rounded = product === cost ? '' : `, rounded up to ${cost}`;
  return `${units} ${unit} x ${unit_price} x ${group_ratio} = ${product}${rounded}`;
}

/** Returns why the charge is not what was calculated. */
function reasonOf(charge: Charge): string {
  const { quota, reserved, state, error_code: code } = charge;
  const cost = calculatedCost(charge);
  if (quota === 0 && (state === 'failed' || state === 'canceled'))
    return `: the work ${state === 'failed' ? 'failed' : 'was canceled'}${code === null ? '' : ` (${code})`}, and the reservation was released`;
  if (quota === cost) return '';
  if (quota < cost && charge.debt > 0) return ': what the key could pay';
  if (quota < cost && quota === reserved) return ': limited to what was reserved';
  return ', which differs from the calculation';
}
