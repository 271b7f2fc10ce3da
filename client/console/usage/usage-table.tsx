import type { Figures } from '../../index.ts';
import { formatCount, formatDuration, formatNumber, formatUnits } from '../parts/numbers.tsx';
import { Quota } from '../parts/quota.tsx';
import { ScrollRegion } from '../parts/scroll-region.tsx';
import type { FigureItem } from './figures.ts';

interface UsageTableProps {
  /** Heading of the first column. */
  heading: string;
  items: readonly FigureItem[];
  sum: Figures['sum'];
  nameOf: (item: FigureItem) => string;
}

/** The figures as numbers, with their sum. */
export function UsageTable({ heading, items, sum, nameOf }: UsageTableProps) {
  return (
    <ScrollRegion label={`Figures by ${heading.toLowerCase()}`}>
      <table class="table">
        <thead>
          <tr>
            <th>{heading}</th>
            <th class="number">Calls</th>
            <th class="number">Failures</th>
            <th class="number">Quota</th>
            <th class="number">Refunded</th>
            <th>Units</th>
            <th class="number">Median</th>
            <th class="number">95th percentile</th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <Line key={nameOf(item)} name={nameOf(item)} figures={item} />
          ))}
        </tbody>
        <tfoot>
          <Line name="Total" figures={sum} />
        </tfoot>
      </table>
    </ScrollRegion>
  );
}

function Line({ name, figures }: { name: string; figures: Figures['sum'] }) {
  const { requests, errors, quota, refunded, units, latency } = figures;
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="number">{formatCount(requests)}</td>
      <td class="number">
        {errors === 0 ? '0' : `${formatCount(errors)} (${formatNumber((errors / requests) * 100)} %)`}
      </td>
      <td class="number">
        <Quota amount={quota} hasNoUnit />
      </td>
      <td class="number">
        <Quota amount={refunded} hasNoUnit />
      </td>
      <td class="numeric">
        {Object.entries(units)
          .map(([unit, value]) => formatUnits(value, unit))
          .join(', ')}
      </td>
      <td class="number">{formatDuration(latency.p50_ms)}</td>
      <td class="number">{formatDuration(latency.p95_ms)}</td>
    </tr>
  );
}
