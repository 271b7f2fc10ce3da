import type { Statement } from '../../index.ts';
import { formatChange, formatCount } from '../parts/numbers.tsx';
import { ScrollRegion } from '../parts/scroll-region.tsx';
import { TableHead } from '../parts/table-head.tsx';

interface Change {
  name: string;
  balance: number;
  debt: number;
}

/** The arithmetic of a statement: the opening balance and all changes add up to the closing balance. */
export function BalanceTable({ statement }: { statement: Statement }) {
  const { opening, closing } = statement;
  const changes = changesOf(statement);
  const showsDebt = [opening, closing, ...changes].some(({ debt }) => debt !== 0);
  const row = ({ balance, debt }: Omit<Change, 'name'>, format: (value: number) => string) => (
    <>
      <td class="number">{format(balance)}</td>
      {showsDebt && <td class="number">{format(debt)}</td>}
    </>
  );
  return (
    <ScrollRegion class="statement-table" label="Balance of the month">
      <table class="table">
        <TableHead
          columns={[
            'Line',
            { title: 'Balance', class: 'number' },
            ...(showsDebt ? [{ title: 'Debt', class: 'number' }] : []),
          ]}
        />
        <tbody>
          <tr>
            <th scope="row">Opening balance</th>
            {row(opening, formatCount)}
          </tr>
          {changes.map((change) => (
            <tr key={change.name}>
              <th scope="row">{change.name}</th>
              {row(change, formatChange)}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Closing balance</th>
            {row(closing, formatCount)}
          </tr>
        </tfoot>
      </table>
    </ScrollRegion>
  );
}

/** Returns the changes between the two balances. Those that rarely occur are omitted if they are 0. */
function changesOf({ corrections, grants, charges, refunds, forfeited }: Statement): Change[] {
  const rare: Change[] = [
    { name: 'Debts settled by grants', balance: -grants.debt_settled, debt: -grants.debt_settled },
    { name: 'Refunds', balance: refunds.credited, debt: 0 },
    { name: 'Forfeited with deleted keys', balance: -forfeited, debt: 0 },
    { name: 'Corrections', ...corrections },
  ];
  return [
    { name: 'Grants', balance: grants.quota, debt: 0 },
    { name: 'Charges', balance: -charges.spent, debt: charges.debt },
    ...rare.filter(({ balance, debt }) => balance !== 0 || debt !== 0),
  ];
}
