import type { ComponentChildren } from 'preact';
import type { Statement } from '../../index.ts';
import { formatChange, formatCount, formatUnits } from '../parts/numbers.tsx';
import { ScrollRegion } from '../parts/scroll-region.tsx';
import { TableHead } from '../parts/table-head.tsx';

interface Column<Line> {
  name: string;
  isNumber?: boolean;
  cell: (line: Line) => ComponentChildren;
  /** Content of the last row. */
  sum?: ComponentChildren;
}

/** Lines of a statement with their sums. */
function Lines<Line>({
  label,
  lines,
  columns,
}: {
  label: string;
  lines: readonly Line[];
  columns: readonly Column<Line>[];
}) {
  const classOf = ({ isNumber = false }: Column<Line>) => (isNumber ? 'number' : undefined);
  return (
    <ScrollRegion class="statement-table" label={label}>
      <table class="table">
        <TableHead columns={columns.map((column) => ({ title: column.name, class: classOf(column) }))} />
        <tbody>
          {lines.map((line, index) => (
            <tr key={index}>
              {columns.map((column) => (
                <td key={column.name} class={classOf(column)}>
                  {column.cell(line)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            {columns.map((column) => (
              <td key={column.name} class={classOf(column)}>
                {column.sum}
              </td>
            ))}
          </tr>
        </tfoot>
      </table>
    </ScrollRegion>
  );
}

/** The charges of each key for each model. */
export function Charges({ charges }: { charges: Statement['charges'] }) {
  const { items, requests, quota, spent, debt } = charges;
  const columns: readonly Column<(typeof items)[number]>[] = [
    { name: 'Key', cell: keyOf, sum: 'Sum' },
    { name: 'Model', cell: ({ model }) => model ?? '–' },
    {
      name: 'Units',
      isNumber: true,
      cell: ({ unit, units }) => (unit === null || units === null ? '–' : formatUnits(units, unit)),
    },
    {
      name: 'Calls',
      isNumber: true,
      cell: (item) => formatCount(item.requests),
      sum: formatCount(requests),
    },
    { name: 'Quota', isNumber: true, cell: (item) => formatCount(item.quota), sum: formatCount(quota) },
    {
      name: 'From balance',
      isNumber: true,
      cell: (item) => formatCount(item.spent),
      sum: formatCount(spent),
    },
    { name: 'Debt', isNumber: true, cell: (item) => formatCount(item.debt), sum: formatCount(debt) },
  ];
  return (
    <Lines
      label="Charges"
      lines={items}
      columns={debt === 0 ? columns.filter(({ name }) => name !== 'Debt') : columns}
    />
  );
}

/** The grants of each day. */
export function Grants({ grants: { items, quota, debt_settled: settled } }: { grants: Statement['grants'] }) {
  const columns: readonly Column<(typeof items)[number]>[] = [
    { name: 'Day (UTC)', cell: ({ day }) => (day === null ? 'Further grants' : dayOf(day)), sum: 'Sum' },
    { name: 'To', cell: ({ day, token_name }) => token_name ?? (day === null ? '–' : 'Wallet') },
    { name: 'Reason', cell: ({ reason }) => reason ?? '–' },
    { name: 'Quota', isNumber: true, cell: (item) => formatChange(item.quota), sum: formatChange(quota) },
    {
      name: 'Debt settled',
      isNumber: true,
      cell: (item) => formatCount(item.debt_settled),
      sum: formatCount(settled),
    },
  ];
  return <Lines label="Grants" lines={items} columns={columns} />;
}

/** The refunds of each key for each model. */
export function Refunds({ refunds: { items, quota, credited } }: { refunds: Statement['refunds'] }) {
  const columns: readonly Column<(typeof items)[number]>[] = [
    { name: 'Key', cell: keyOf, sum: 'Sum' },
    { name: 'Model', cell: ({ model }) => model ?? '–' },
    { name: 'Quota', isNumber: true, cell: (item) => formatCount(item.quota), sum: formatCount(quota) },
    {
      name: 'To balance',
      isNumber: true,
      cell: (item) => formatCount(item.credited),
      sum: formatCount(credited),
    },
  ];
  return <Lines label="Refunds" lines={items} columns={columns} />;
}

/** Names are not unique, so the id follows. */
const keyOf = ({ token_id: id, token_name: name }: { token_id: number | null; token_name: string | null }) =>
  id === null ? 'Further lines' : `${name ?? 'Key'} (${id})`;

const dayOf = (day: number) =>
  new Date(day * 1_000).toLocaleDateString(undefined, { timeZone: 'UTC', dateStyle: 'medium' });
