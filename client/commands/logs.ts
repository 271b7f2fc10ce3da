import type { LogItem } from '../logs.ts';
import { wait } from '../retry.ts';
import type { Unigate } from '../unigate.ts';
import type { Invocation } from './command-line.ts';
import { readCount, readInterval } from './task-options.ts';
import { oneLine, type Terminal } from './terminal.ts';

const defaultLines = 10;
const pageSize = 100;
/** Entries may be stored in another order than their times. */
const overlapSeconds = 60;

/** `unigate logs tail`: prints the last entries of the request log, and new ones until a signal ends it. */
export async function tailLogs(
  client: Unigate,
  { text: keyword, options }: Invocation,
  { stdout }: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const lines = readCount(options, 'lines') ?? defaultLines;
  const intervalMs = readInterval(options);
  const filter = { page_size: pageSize, ...(keyword !== '' && { keyword }) };
  const print = (entry: LogItem) =>
    void stdout.write(`${options.json ? JSON.stringify(entry) : oneLine(lineOf(entry))}\n`);

  let printed = new Set<number>();
  let start = 0;
  let latest = await entriesSince(client, { ...filter, start }, lines, signal);
  for (;;) {
    for (const entry of latest.filter(({ id }) => !printed.has(id)).reverse()) print(entry);
    const newest = latest[0]?.created_at;
    if (newest !== undefined) start = Math.max(0, newest - overlapSeconds);
    printed = new Set([...printed, ...latest.map(({ id }) => id)].slice(-maxRemembered));
    if (options['no-follow']) return;
    await wait(intervalMs, signal);
    latest = await entriesSince(client, { ...filter, start }, maxRemembered, signal);
  }
}

/** Number of printed entries that are remembered, and maximum number of new entries between two requests. */
const maxRemembered = 10_000;

/** Returns the newest entries since a time, newest first. */
async function entriesSince(
  client: Unigate,
  query: { start: number; page_size: number; keyword?: string },
  limit: number,
  signal: AbortSignal,
): Promise<LogItem[]> {
  const entries = [];
  const page_size = Math.min(query.page_size, limit);
  for await (const entry of client.logs.search({ ...query, page_size }, { signal })) {
    entries.push(entry);
    if (entries.length >= limit) break;
  }
  return entries;
}

function lineOf(entry: LogItem): string {
  const { created_at, request_id, token_name, model_name, state = '', quota, task_id } = entry;
  const time = `${new Date(created_at * 1_000).toISOString().slice(0, 19)}Z`;
  return [time, request_id, token_name, model_name, state, String(quota), task_id ?? ''].join('  ').trimEnd();
}
