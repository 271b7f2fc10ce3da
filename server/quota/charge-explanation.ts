import { price } from '../models/usage.ts';
import type { AppliedRule, FigureName } from '../settings/price-rules.ts';
import type { Charge } from '../store/queries/charges.ts';
import { ruleCost } from './price-rules.ts';

/** Returns the cost by the price of the entry: of its units, or of the figures that a price rule applied to. */
export function calculatedCost(charge: Charge): number {
  const { units, unit_price, group_ratio } = charge;
  const rule = appliedRuleOf(charge);
  if (rule === null) return price(units, unit_price ?? 0, group_ratio);
  return units === 0 ? 0 : ruleCost(rule, rule.figures, group_ratio);
}

/** Returns the price rule of an entry with the figures that it applied to. Null: every unit had the same price. */
export function appliedRuleOf({ price_rule }: Pick<Charge, 'price_rule'>): AppliedRule | null {
  return price_rule === null ? null : (JSON.parse(price_rule) as AppliedRule);
}

/** Explains a charge as arithmetic, one step a line. Only operators see the reason of a refund. */
export function explainCharge(charge: Charge, { forOperator }: { forOperator: boolean }): string[] {
  const { reserved, unlimited, debt, refund, quota } = charge;
  const of = unlimited === 1 ? ' by a key without a limit' : '';
  const lines = [...calculation(charge), `reserved ${reserved}${of}`, `charged ${quota}${reasonOf(charge)}`];
  if (debt > 0) lines.push(`debt ${debt}: the key could not pay more`);
  if (refund !== null)
    lines.push(
      `refunded ${refund.amount}${forOperator ? `: ${refund.reason}` : ''}`,
      `net ${quota} - ${refund.amount} = ${quota - refund.amount}`,
    );
  return lines;
}

function calculation(charge: Charge): string[] {
  const { units, unit, unit_price: unitPrice, group_ratio: groupRatio } = charge;
  const rule = appliedRuleOf(charge);
  return explainCost({ units, unit, unitPrice, groupRatio, rule, cost: calculatedCost(charge) });
}

/** A calculated cost. */
interface CalculatedCost {
  units: number;
  unit: string;
  unitPrice: number | null;
  groupRatio: number;
  /** Null: every unit has the same price. */
  rule: AppliedRule | null;
  cost: number;
}

/** Explains a cost as arithmetic, one step a line. */
export function explainCost({ units, unit, unitPrice, groupRatio, rule, cost }: CalculatedCost): string[] {
  if (rule !== null) return ruleCalculation(rule, groupRatio, cost);
  // The noise of floating point begins behind the 15th digit.
  const product = Number((units * (unitPrice ?? 0) * groupRatio).toPrecision(15));
  const rounded = product === cost ? '' : `, rounded up to ${cost}`;
  return [`${units} ${unit} x ${unitPrice} x ${groupRatio} = ${product}${rounded}`];
}

/** Returns the calculation of a cost under a price rule: the rule, a line for each figure, and the total. */
function ruleCalculation(
  { number, when, per = {}, minimum, figures, reported }: AppliedRule,
  ratio: number,
  cost: number,
): string[] {
  const conditions = valuesText(when ?? {});
  const values = reported && valuesText(reported);
  const names = Object.keys(per) as FigureName[];
  const amounts = names.map((name) => {
    const [figure, each] = [figures[name] ?? 0, per[name] ?? 0];
    return { text: `${figure} ${name} x ${each}`, amount: Number((figure * each).toPrecision(15)) };
  });
  const sum = Number(amounts.reduce((total, { amount }) => total + amount, 0).toPrecision(15));
  const isMinimum = minimum !== undefined && sum < minimum && cost > 0;
  return [
    ...(values ? [`the provider reported ${values}`] : []),
    `price rule ${number}${conditions && `: ${conditions}`}`,
    ...amounts.map(({ text, amount }) => `${text} = ${amount}`),
    ...(isMinimum ? [`minimum ${minimum}`] : []),
    `${isMinimum ? minimum : sum} x ${ratio} = ${cost}, rounded up`,
  ];
}

function valuesText(fields: object): string {
  return Object.entries(fields)
    .map(([field, value]) => `${field} ${JSON.stringify(value)}`)
    .join(', ');
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
