import type { Account } from '../my-accounts.ts';
import type { Token } from '../tokens.ts';
import type { Unigate } from '../unigate.ts';
import { type AmountFormat, inQuota, readAmountFormat } from './amounts.ts';
import type { Invocation, Options } from './command-line.ts';
import { keyStatuses } from './key-statuses.ts';
import { readWholeNumber } from './read-whole-number.ts';
import { formatTime, printTable, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** Keys that are requested at once. */
const pageSize = 200;

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
  const change = readChange('accounts update', options);
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

/** `unigate accounts keys`: prints the keys of a sub-account, newest first. */
export async function listAccountKeys(
  client: Unigate,
  { text, options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const id = readWholeNumber(text, 'ID');
  const tokens: Token[] = [];
  for await (const token of client.me.accounts.listTokens(id, { page_size: pageSize }, { signal }))
    tokens.push(token);
  const amount = await amountFormat(client, options, signal);
  printTable(
    terminal,
    options,
    tokens.map((token) => rowOfKey(token, amount)),
    tokens,
  );
}

/** `unigate accounts update-key`: renames, disables or enables a key of a sub-account. */
export async function updateAccountKey(
  client: Unigate,
  { text, options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const account = readAccount('accounts update-key', options);
  const { name, disabled } = readChange('accounts update-key', options);
  const status = disabled === undefined ? undefined : disabled ? 2 : 1;
  const id = readWholeNumber(text, 'KEY-ID');
  const token = await client.me.accounts.updateToken(account, id, { name, status }, { signal });
  const amount = await amountFormat(client, options, signal);
  printTable(terminal, options, [rowOfKey(token, amount)], token);
}

/** `unigate accounts delete-key`: deletes a key of a sub-account. */
export async function deleteAccountKey(
  client: Unigate,
  { text, options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const account = readAccount('accounts delete-key', options);
  const id = readWholeNumber(text, 'KEY-ID');
  await client.me.accounts.deleteToken(account, id, { signal });
  terminal.stdout.write(`${id}\n`);
}

function readAccount(command: string, { account }: Options): number {
  if (account === undefined) throw new UsageError(`${command}: --account is required.`);
  return readWholeNumber(account, '--account');
}

/** Reads the new name and state of an account or a key. */
function readChange(
  command: string,
  { name, disable, enable }: Options,
): { name?: string; disabled?: boolean } {
  if (disable && enable) throw new UsageError('--disable and --enable exclude each other.');
  if (name === undefined && !disable && !enable)
    throw new UsageError(`${command}: --name, --disable or --enable is required.`);
  return { ...(name !== undefined && { name }), ...((disable || enable) && { disabled: disable === true }) };
}

const rowOfKey = (
  { id, name, key, status, remain_quota, used_quota, unlimited_quota, created_time }: Token,
  amount: AmountFormat,
) => [
  String(id),
  name,
  key,
  keyStatuses[status - 1] ?? '',
  unlimited_quota === true ? 'no limit' : `${amount(remain_quota)} left`,
  `${amount(used_quota)} used`,
  formatTime(created_time),
];

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
