import type { Member } from '../my-members.ts';
import type { Unigate } from '../unigate.ts';
import type { Invocation } from './command-line.ts';
import { readWholeNumber } from './read-whole-number.ts';
import { formatTime, printTable, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** `unigate members list`: prints the members of the user of the key. */
export async function listMembers(
  client: Unigate,
  { options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const members = await client.me.members.list({ signal });
  printTable(terminal, options, members.map(rowOf), members);
}

/** `unigate members create`: adds a member and prints the id. */
export async function createMember(
  client: Unigate,
  { text: name, options: { role } }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  if (role === undefined) throw new UsageError('members create: --role is required.');
  const { id } = await client.me.members.create({ name, role }, { signal });
  terminal.stdout.write(`${id}\n`);
}

/** `unigate members update`: changes the name or the role of a member. */
export async function updateMember(
  client: Unigate,
  { text, options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { name, role } = options;
  if (name === undefined && role === undefined)
    throw new UsageError('members update: --name or --role is required.');
  const member = await client.me.members.update(readWholeNumber(text, 'ID'), { name, role }, { signal });
  printTable(terminal, options, [rowOf(member)], member);
}

/** `unigate members delete`: removes a member and deletes its keys. */
export async function deleteMember(
  client: Unigate,
  { text }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const id = readWholeNumber(text, 'ID');
  await client.me.members.delete(id, { signal });
  terminal.stdout.write(`${id}\n`);
}

const rowOf = ({ id, name, role, keys, created_time }: Member) => [
  String(id),
  name,
  role,
  `${keys} ${keys === 1 ? 'key' : 'keys'}`,
  formatTime(created_time),
];
