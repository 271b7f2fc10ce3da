import type { LogItem } from '../../index.ts';
import { formatNumber, formatUnits } from '../parts/numbers.tsx';
import { figuresText } from '../parts/price-rules.ts';
import { Prices, Quota } from '../parts/quota.tsx';

interface ChargeProps {
  /** Undefined if the gateway does not report the usage. */
  units: number | undefined;
  unit?: string;
  unitPrice: number;
  groupRatio: number;
  quota: number;
  refunded?: number;
  debt?: number;
}

/** A charge as arithmetic: usage, price per unit and ratio of the group. */
export function Charge({
  units,
  unit = 'units',
  unitPrice,
  groupRatio,
  quota,
  refunded = 0,
  debt = 0,
}: ChargeProps) {
  return (
    <div class="charge numeric">
      {units !== undefined && (
        <p>
          {formatUnits(units, unit)} × <Prices render={(format) => format(unitPrice)} /> ×{' '}
          {formatNumber(groupRatio)} =
        </p>
      )}
      <p>
        <strong>
          <Quota amount={quota + debt} />
        </strong>
        {debt > 0 && (
          <>
            {' '}
            (<Quota amount={quota} hasNoUnit /> charged, <Quota amount={debt} hasNoUnit /> debt)
          </>
        )}
      </p>
      {refunded > 0 && (
        <p>
          − <Quota amount={refunded} hasNoUnit /> refunded ={' '}
          <strong>
            <Quota amount={quota - refunded} />
          </strong>
        </p>
      )}
    </div>
  );
}

/** The figures of a price rule that a charge was calculated from. */
export function PricedFigures({ rule }: { rule: NonNullable<LogItem['price_rule']> }) {
  return (
    <p class="secondary numeric">
      <Prices render={(format) => figuresText(rule, format)} />
    </p>
  );
}
