import { pipeline } from 'node:stream/promises';
import type { Statement } from '../my-statements.ts';
import { saveFile } from '../save-file.ts';
import type { Unigate } from '../unigate.ts';
import { type AmountFormat, inQuota, readAmountFormat } from './amounts.ts';
import type { Invocation } from './command-line.ts';
import { readWholeNumber } from './read-whole-number.ts';
import { printTable, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** `unigate statement`: lists the months, prints the statement of one, or saves it as CSV or HTML. */
export async function showStatement(
  client: Unigate,
  { text: month, options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { output, account } = options;
  const accountId = account === undefined ? undefined : readWholeNumber(account, '--account');
  const of = { accountId, signal };
  if (month === '') {
    if (output !== undefined) throw new UsageError('MONTH is required with -o.');
    const months = await client.me.statements.list(of);
    const rows = months.map((one) => [one.month, one.final ? 'closed' : 'open']);
    printTable(terminal, options, rows, months);
    return;
  }
  if (output === undefined) {
    const statement = await client.me.statements.retrieve(month, of);
    const amount = options.json ? inQuota : await readAmountFormat(client, signal);
    printTable(terminal, options, statementRows(statement, amount), statement);
    return;
  }
  const format = output.endsWith('.html') ? 'html' : 'csv';
  const file = await client.me.statements.download(month, format, of);
  if (output === '-') await pipeline(file, terminal.stdout, { end: false, signal });
  else await saveFile(output, file);
}

/**
 * The lines of a statement with the changes of balance and debt. `charged` differs from the balance if the wallet of another
 * user paid, or if the key had no limit.
 */
function statementRows(
  { opening, corrections, grants, charges, refunds, forfeited, closing }: Statement,
  amount: AmountFormat,
): string[][] {
  const row = (label: string, balance: number, debt: number, quota?: number) => [
    label,
    amount(balance),
    amount(debt),
    quota === undefined ? '' : amount(quota),
  ];
  return [
    ['', 'balance', 'debt', 'charged'],
    row('opening', opening.balance, opening.debt),
    row('corrections', corrections.balance, corrections.debt),
    row('grants', grants.quota - grants.debt_settled, 0 - grants.debt_settled),
    row('charges', 0 - charges.spent, charges.debt, charges.quota),
    row('refunds', refunds.credited, 0, 0 - refunds.quota),
    row('forfeited', 0 - forfeited, 0),
    row('closing', closing.balance, closing.debt),
  ];
}
