import { createHash } from 'node:crypto';
import { control } from '../../store/csv.ts';
import type { Statement } from '../../store/queries/statements.ts';
import { dateOf } from './statement-csv.ts';

const style = `
:root { color-scheme: light; font: 15px/1.5 system-ui, sans-serif; color: #131817; }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.5rem; background: #fff; }
header { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .5rem 2rem; margin-bottom: 2rem; }
h1 { margin: 0; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 2rem 0 .5rem; font-size: 1.0625rem; }
p { margin: 0; color: #485250; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .4rem .6rem; border-bottom: 1px solid #e1e7e7; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
thead th { border-bottom-color: #87928f; font-size: .8125rem; color: #485250; }
.number { text-align: right; white-space: nowrap; }
tfoot th, tfoot td { border-bottom: 0; font-weight: 600; }
footer { margin-top: 2rem; font-size: .8125rem; }
@page { margin: 18mm 15mm; }
@media print {
  :root { font-size: 10pt; }
  body { max-width: none; padding: 0; }
  thead { display: table-header-group; }
  tr { break-inside: avoid; }
  h2 { break-after: avoid; }
}
`;

/** Headers of the page. It has no scripts and loads nothing. */
export const statementPageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Renders a statement as a page for printing. */
export function statementPage(statement: Statement): string {
  const { month, since, until, user, final } = statement;
  const state = final
    ? 'This statement is final.'
    : 'The month is not closed yet, so that amounts can still change.';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Statement ${month}</title>
<style>${style}</style>
</head>
<body>
<header>
<div><h1>Statement ${month}</h1><p>${dateOf(since)} to ${dateOf(until - 1)} (UTC)</p></div>
<div><p>${escapeHtml(user.name)}</p><p>User ${user.id}</p></div>
</header>
<main>
${summary(statement)}
${grantTable(statement)}
${chargeTable(statement)}
${refundTable(statement)}
${accountTable(statement)}
${memberTable(statement)}
</main>
<footer><p>All amounts are in quota units. ${state}</p></footer>
</body>
</html>
`;
}

function summary({ opening, corrections, grants, charges, refunds, forfeited, closing }: Statement): string {
  const optional = (label: string, balance: number, debt: number) =>
    balance === 0 && debt === 0 ? [] : [[label, number(balance), number(debt)]];
  const rows = [
    ['Opening balance', number(opening.balance), number(opening.debt)],
    ...optional('Corrections of earlier months', corrections.balance, corrections.debt),
    ['Grants', number(grants.quota), ''],
    ...optional('Debts settled by grants', -grants.debt_settled, -grants.debt_settled),
    ['Charges', number(-charges.spent), number(charges.debt)],
    ['Refunds', number(refunds.credited), ''],
    ...optional('Balance of deleted keys', -forfeited, 0),
  ];
  return table(
    'Summary',
    ['', 'Balance', 'Debt'],
    rows,
    ['Closing balance', number(closing.balance), number(closing.debt)],
    1,
  );
}

function grantTable({ grants }: Statement): string {
  if (grants.items.length === 0) return '';
  const rows = grants.items.map(({ day, token_name, token_id, reason, quota }) => [
    day === null ? further : dateOf(day),
    walletOr(keyOf(token_name, token_id), day),
    reason ?? '',
    number(quota),
  ]);
  return table('Grants', ['Day', 'Key', 'Reason', 'Quota'], rows, ['Total', '', '', number(grants.quota)], 3);
}

function chargeTable({ charges }: Statement): string {
  if (charges.items.length === 0) return '';
  const rows = charges.items.map((item) => [
    keyOf(item.token_name, item.token_id),
    item.model ?? further,
    item.units === null ? '' : `${number(item.units)} ${item.unit ?? ''}`,
    number(item.requests),
    number(item.quota),
    number(item.spent),
  ]);
  const total = ['Total', '', '', number(charges.requests), number(charges.quota), number(charges.spent)];
  const heads = ['Key', 'Model', 'Usage', 'Calls and tasks', 'Charged', 'From balance'];
  return table('Charges', heads, rows, total, 2);
}

function refundTable({ refunds }: Statement): string {
  if (refunds.items.length === 0) return '';
  const rows = refunds.items.map(({ token_name, token_id, model, quota, credited }) => [
    keyOf(token_name, token_id),
    model ?? further,
    number(quota),
    number(credited),
  ]);
  const total = ['Total', '', number(refunds.quota), number(refunds.credited)];
  return table('Refunds', ['Key', 'Model', 'Refunded', 'To balance'], rows, total, 2);
}

/** Renders the sums by account, if a sub-account has charges or refunds. */
function accountTable({ accounts, charges, refunds }: Statement): string {
  if (accounts.length < 2) return '';
  const rows = accounts.map(({ account_id: id, account_name, requests, quota, refunded }) => [
    keyOf(account_name, id),
    number(requests),
    number(quota),
    number(refunded),
  ]);
  return sumTable('Accounts', 'Account', rows, { charges, refunds });
}

/** Renders the sums by member, if a member has charges or refunds. */
function memberTable({ members, charges, refunds }: Statement): string {
  if (members.every(({ member_id: id }) => id === null)) return '';
  const rows = members.map(({ member_id: id, member_name, requests, quota, refunded }) => [
    id === null ? 'Keys without a member' : keyOf(member_name, id),
    number(requests),
    number(quota),
    number(refunded),
  ]);
  return sumTable('Members', 'Member', rows, { charges, refunds });
}

/** Renders a table of sums with their total. */
function sumTable(
  title: string,
  head: string,
  rows: readonly (readonly string[])[],
  { charges, refunds }: Pick<Statement, 'charges' | 'refunds'>,
): string {
  const total = ['Total', number(charges.requests), number(charges.quota), number(refunds.quota)];
  return table(title, [head, 'Calls and tasks', 'Charged', 'Refunded'], rows, total, 1);
}

const further = 'Further lines';

const keyOf = (name: string | null, id: number | null) => (id === null ? '' : `${name ?? ''} (${id})`);

/** A grant without a key is one to the wallet. */
const walletOr = (key: string, day: number | null) => (key === '' && day !== null ? 'Wallet' : key);

/** Renders a table. Columns from `firstNumber` on contain numbers. */
function table(
  title: string,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  total: readonly string[],
  firstNumber: number,
): string {
  const cell = (tag: string, index: number, text: string) =>
    `<${tag}${index >= firstNumber ? ' class="number"' : ''}>${escapeHtml(text)}</${tag}>`;
  const row = (cells: readonly string[], tag: (index: number) => string) =>
    `<tr>${cells.map((text, index) => cell(tag(index), index, text)).join('')}</tr>`;
  return `<section><h2>${title}</h2><table>
<thead>${row(heads, () => 'th')}</thead>
<tbody>
${rows.map((cells) => row(cells, () => 'td')).join('\n')}
</tbody>
<tfoot>${row(total, (index) => (index === 0 ? 'th' : 'td'))}</tfoot>
</table></section>`;
}

/** Created at the first use, because Intl is slow to load at a start. */
let format: Intl.NumberFormat | undefined;

/** Formats a number with thousands separators. -0 is 0. */
function number(value: number): string {
  format ??= new Intl.NumberFormat('en', { maximumFractionDigits: 3 });
  return format.format(value === 0 ? 0 : value);
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes a text for HTML. U+FFFD replaces control characters, which can reorder the text around them. */
const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character] ?? '').replaceAll(control, '\uFFFD');
