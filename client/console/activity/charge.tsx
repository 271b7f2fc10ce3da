import { formatCount, formatNumber, formatUnits } from '../parts/numbers.tsx';

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
          {formatUnits(units, unit)} × {formatNumber(unitPrice)} × {formatNumber(groupRatio)} =
        </p>
      )}
      <p>
        <strong>{formatCount(quota + debt)} quota</strong>
        {debt > 0 && ` (${formatCount(quota)} charged, ${formatCount(debt)} debt)`}
      </p>
      {refunded > 0 && (
        <p>
          − {formatCount(refunded)} refunded = <strong>{formatCount(quota - refunded)} quota</strong>
        </p>
      )}
    </div>
  );
}
