import type { CallOptions } from '../call.ts';
import { NotFoundError, PermissionDeniedError, UnigateError } from '../errors.ts';
import type { Unigate } from '../unigate.ts';
import type { Invocation } from './command-line.ts';
import { readCount } from './task-options.ts';
import { formatTime, printTable, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const defaultLimit = 20;
/** Number of entries of the request log that `tasks list` reads. */
const logEntries = 1_000;

/** A task of any format. */
interface ListedTask {
  id: string;
  /** Unix time in seconds. */
  created_at: number;
  model: string;
  status: string;
}

/** A task with its fields in its own format. */
interface FoundTask {
  format: Format;
  task: object;
  status: string;
}

/** The formats in which tasks are created, each with a path of its own to read them. */
const formats = {
  videos: async (client: Unigate, id: string, options: CallOptions) =>
    found('videos', await client.videos.retrieve(id, options), ({ status }) => status),
  generic: async (client: Unigate, id: string, options: CallOptions) =>
    found('generic', await client.videoGenerations.retrieve(id, options), (task) =>
      'code' in task ? task.data.status : task.status,
    ),
  official: async (client: Unigate, id: string, options: CallOptions) =>
    found('official', await client.officialVideos.retrieve(id, options), ({ status }) => status),
  native: async (client: Unigate, id: string, options: CallOptions) => {
    const task = await client.nativeVideos.retrieve(id, options);
    // The native path responds to every id.
    if (task.output.task_status === 'UNKNOWN') return undefined;
    return found('native', task, ({ output }) => output.task_status);
  },
  music: async (client: Unigate, id: string, options: CallOptions) => {
    const { data } = await client.call('fetchMusicTask', { ...options, params: { path: { task_id: id } } });
    return data ? found('music', data, ({ status }) => status) : undefined;
  },
  image: async (client: Unigate, id: string, options: CallOptions) =>
    found('image', await client.imageJobs.retrieve(id, options), ({ status }) => status),
} as const;

type Format = keyof typeof formats;

/** `unigate tasks list`: prints the newest tasks, those that the gateway lists and the ended ones of the request log. */
export async function listTasks(
  client: Unigate,
  { options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const limit = readCount(options, 'limit') ?? defaultLimit;
  const sources = [
    listVideos(client, limit, signal),
    listOfficial(client, limit, signal),
    listLogged(client, signal),
  ];
  const tasks = new Map<string, ListedTask>();
  for (const source of await Promise.all(sources.map(readable)))
    for (const task of source) if (!tasks.has(task.id)) tasks.set(task.id, task);
  const newest = [...tasks.values()].sort((a, b) => b.created_at - a.created_at).slice(0, limit);
  const rows = newest.map(({ id, created_at, model, status }) => [id, timeOf(created_at), model, status]);
  printTable(terminal, options, rows, newest);
}

/** `unigate tasks show`: prints a task of any format. */
export async function showTask(
  client: Unigate,
  { text, options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { format, task } = await findTask(client, text, signal);
  printTable(terminal, options, [['format', format], ...fieldsOf(task)], task);
}

/** `unigate tasks cancel`: cancels a waiting task of the native or the official format. */
export async function cancelTask(
  client: Unigate,
  { text }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { format, status } = await findTask(client, text, signal);
  if (format === 'native') await client.nativeVideos.cancel(text, { signal });
  else if (format !== 'official')
    throw new UnigateError(`${text} cannot be canceled: the API format ${format} has no operation for it.`);
  // The same operation deletes a task that has ended.
  else if (status === 'queued') await client.officialVideos.delete(text, { signal });
  else throw new UnigateError(`${text} cannot be canceled: its status is ${status}, not queued.`);
  terminal.stdout.write('canceled\n');
}

/** Finds a task by asking the path of each format. Throws UnigateError if none has it. */
async function findTask(client: Unigate, id: string, signal: AbortSignal): Promise<FoundTask> {
  if (id.trim() === '') throw new UsageError('The id of a task is required.');
  for (const read of Object.values(formats)) {
    try {
      const task = await read(client, id, { signal });
      if (task !== undefined) return task;
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
  }
  throw new UnigateError(`There is no task ${id}.`);
}

function found<Task extends object>(format: Format, task: Task, status: (task: Task) => string): FoundTask {
  return { format, task, status: status(task) };
}

async function listVideos(client: Unigate, limit: number, signal: AbortSignal): Promise<ListedTask[]> {
  const query = { limit: Math.min(limit, 100) };
  return newestOf(client.videos.list(query, { signal }), limit);
}

async function listOfficial(client: Unigate, limit: number, signal: AbortSignal): Promise<ListedTask[]> {
  const query = { page_size: Math.min(limit, 100) };
  return newestOf(client.officialVideos.list(query, { signal }), limit);
}

async function listLogged(client: Unigate, signal: AbortSignal): Promise<ListedTask[]> {
  const { items } = await client.logs.search({ page_size: logEntries }, { signal });
  return items.flatMap(({ task_id, created_at, model_name, state = '' }) =>
    task_id ? [{ id: task_id, created_at, model: model_name, status: state }] : [],
  );
}

async function newestOf(tasks: AsyncIterable<ListedTask>, limit: number): Promise<ListedTask[]> {
  const newest: ListedTask[] = [];
  for await (const { id, created_at, model, status } of tasks) {
    newest.push({ id, created_at, model, status });
    if (newest.length >= limit) break;
  }
  return newest;
}

/** Returns an empty list if the key has no access to it. */
function readable(source: Promise<ListedTask[]>): Promise<ListedTask[]> {
  return source.catch((error: unknown) => {
    if (error instanceof PermissionDeniedError || error instanceof NotFoundError) return [];
    throw error;
  });
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
