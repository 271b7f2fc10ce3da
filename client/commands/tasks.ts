import { NotFoundError, UnigateError } from '../errors.ts';
import type { MyTaskDetails } from '../my-tasks.ts';
import type { Unigate } from '../unigate.ts';
import type { Invocation } from './command-line.ts';
import { readCount } from './task-options.ts';
import { formatTime, printTable, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const defaultLimit = 20;
const maxPageSize = 1_000;

/** `unigate tasks list`: prints the newest tasks of all formats. */
export async function listTasks(
  client: Unigate,
  { options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const limit = readCount(options, 'limit') ?? defaultLimit;
  const list = client.me.tasks.list({ page_size: Math.min(limit, maxPageSize) }, { signal });
  const newest = [];
  for await (const task of list) if (newest.push(task) >= limit) break;
  const rows = newest.map(({ id, created_at, model, state }) => [id, timeOf(created_at), model, state]);
  printTable(terminal, options, rows, newest);
}

/** `unigate tasks show`: prints a task in its own format. */
export async function showTask(
  client: Unigate,
  { text, options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { format, response } = await findTask(client, text, signal);
  printTable(terminal, options, [['format', format], ...fieldsOf(response)], response);
}

/** `unigate tasks cancel`: cancels a waiting task of the native or the official format. */
export async function cancelTask(
  client: Unigate,
  { text }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { format, state } = await findTask(client, text, signal);
  if (format === 'native') await client.nativeVideos.cancel(text, { signal });
  else if (format !== 'official')
    throw new UnigateError(`${text} cannot be canceled: the API format ${format} has no operation for it.`);
  // The same operation deletes a task that has ended.
  else if (state === 'queued') await client.officialVideos.delete(text, { signal });
  else throw new UnigateError(`${text} cannot be canceled: its state is ${state}, not queued.`);
  terminal.stdout.write('canceled\n');
}

/** Finds a task of any format. Throws UnigateError if there is none. */
async function findTask(client: Unigate, id: string, signal: AbortSignal): Promise<MyTaskDetails> {
  if (id.trim() === '') throw new UsageError('The id of a task is required.');
  try {
    return await client.me.tasks.retrieve(id, { signal });
  } catch (error) {
    if (error instanceof NotFoundError) throw new UnigateError(`There is no task ${id}.`);
    throw error;
  }
}

/** Returns the fields of a task as rows. A field of an object has the name of the object in front. */
function fieldsOf(value: object, prefix = ''): string[][] {
  return Object.entries(value).flatMap(([name, field]: [string, unknown]) => {
    if (field === null || field === undefined || field === '') return [];
    if (typeof field === 'object') return fieldsOf(field, `${prefix}${name}.`);
    return [[`${prefix}${name}`, typeof field === 'string' ? field : JSON.stringify(field)]];
  });
}

function timeOf(seconds: number): string {
  return formatTime(seconds).replace('T', ' ');
}
