import type { Account } from '../my-accounts.ts';
import type { Unigate } from '../unigate.ts';
import { type AmountFormat, inQuota, readAmountFormat } from './amounts.ts';
import type { Invocation, Options } from './command-line.ts';
import { readWholeNumber } from './read-whole-number.ts';
import { formatTime, printTable, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** `unigate accounts list`: prints the sub-accounts of the user of the key with their spending. */
export async function listAccounts(
  client: Unigate,
  { options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const accounts = await client.me.accounts.list({ signal });
  const amount = await amountFormat(client, options, signal);
  printTable(
    terminal,
    options,
    accounts.map((account) => rowOf(account, amount)),
    accounts,
  );
}

/** `unigate accounts create`: creates a sub-account and prints the id. */
export async function createAccount(
  client: Unigate,
  { text: name }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { id } = await client.me.accounts.create({ name }, { signal });
  terminal.stdout.write(`${id}\n`);
}

/** `unigate accounts update`: renames, disables or enables a sub-account. */
export async function updateAccount(
  client: Unigate,
  { text, options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { name, disable = false, enable = false } = options;
  if (disable && enable) throw new UsageError('--disable and --enable exclude each other.');
  if (name === undefined && !disable && !enable)
    throw new UsageError('accounts update: --name, --disable or --enable is required.');
  const change = { name, disabled: disable || enable ? disable : undefined };
  const account = await client.me.accounts.update(readWholeNumber(text, 'ID'), change, { signal });
  const amount = await amountFormat(client, options, signal);
  printTable(terminal, options, [rowOf(account, amount)], account);
}

/** `unigate accounts key`: creates a key of a sub-account and prints its secret. */
export async function createAccountKey(
  client: Unigate,
  { text, options: { name, quota, quiet } }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  if (name === undefined) throw new UsageError('accounts key: --name is required.');
  const limit =
    quota === undefined ? { unlimited_quota: true } : { remain_quota: readWholeNumber(quota, '--quota') };
  const { id, key } = await client.me.accounts.createToken(
    readWholeNumber(text, 'ID'),
    { name, ...limit },
    { signal },
  );
  if (!quiet) terminal.stderr.write(`key ${id}\n`);
  terminal.stdout.write(`${key}\n`);
}

const amountFormat = (client: Unigate, { json }: Options, signal: AbortSignal) =>
  json ? inQuota : readAmountFormat(client, signal);

const rowOf = (
  { id, name, group, disabled, keys, used_quota, created_time }: Account,
  amount: AmountFormat,
) => [
  String(id),
  name,
  group,
  disabled ? 'disabled' : 'enabled',
  `${keys} ${keys === 1 ? 'key' : 'keys'}`,
  amount(used_quota),
  formatTime(created_time),
];
