import { csvLine } from '../../store/csv.ts';
import type { Statement } from '../../store/queries/statements.ts';

const columns = [
  'line',
  'day',
  'token_id',
  'token_name',
  'member_id',
  'member_name',
  'model',
  'reason',
  'unit',
  'units',
  'requests',
  'quota',
  'balance',
  'debt',
] as const;

type Line = { line: string; balance: number; debt: number } & {
  [column in (typeof columns)[number]]?: string | number | null;
};

/** Formats a statement as CSV. The opening line and all changes add up to the closing line. */
export function statementCsv(statement: Statement): string {
  const { opening, corrections, grants, charges, refunds, forfeited, closing, since, until } = statement;
  const lines: Line[] = [
    { line: 'opening', day: dateOf(since), ...opening },
    ...grants.items.map(({ day, debt_settled, ...grant }): Line => {
      const date = day === null ? null : dateOf(day);
      return { line: 'grant', ...grant, day: date, balance: grant.quota - debt_settled, debt: -debt_settled };
    }),
    ...charges.items.map(({ spent, ...charge }): Line => ({ line: 'charge', ...charge, balance: -spent })),
    ...refunds.items.map(({ credited, ...refund }): Line => {
      return { line: 'refund', ...refund, balance: credited, debt: 0 };
    }),
    { line: 'correction', ...corrections },
    { line: 'forfeited', balance: -forfeited, debt: 0 },
    { line: 'closing', day: dateOf(until - 1), ...closing },
  ];
  const header = `${columns.join(',')}\r\n`;
  return header + lines.map((line) => csvLine(columns.map((column) => cellOf(line[column])))).join('');
}

/** -0 is 0. */
const cellOf = (value: string | number | null | undefined) => (value === 0 ? 0 : (value ?? null));

/** Returns the UTC date of a time in Unix seconds. */
export const dateOf = (time: number): string => new Date(time * 1_000).toISOString().slice(0, 10);
