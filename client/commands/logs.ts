import type { LogItem } from '../logs.ts';
import type { Unigate } from '../unigate.ts';
import { type AmountFormat, inQuota, readAmountFormat } from './amounts.ts';
import type { Invocation } from './command-line.ts';
import { follow } from './follow.ts';
import { readCount, readInterval } from './task-options.ts';
import { formatTime, oneLine, type Terminal } from './terminal.ts';

const defaultLines = 10;

/** `unigate logs tail`: prints the last entries of the request log, and new ones until a signal ends it. */
export async function tailLogs(
  client: Unigate,
  { text: keyword, options }: Invocation,
  { stdout }: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const filter = keyword === '' ? {} : { keyword };
  const batches = follow((query) => client.logs.search({ ...query, ...filter }, { signal }), {
    lines: readCount(options, 'lines') ?? defaultLines,
    intervalMs: readInterval(options),
    isOnce: options['no-follow'] ?? false,
    signal,
  });
  const amount = options.json ? inQuota : await readAmountFormat(client, signal);
  for await (const batch of batches)
    for (const entry of batch)
      stdout.write(`${options.json ? JSON.stringify(entry) : oneLine(lineOf(entry, amount))}\n`);
}

function lineOf(entry: LogItem, amount: AmountFormat): string {
  const { created_at, request_id, token_name, model_name, state = '', quota, task_id } = entry;
  return [formatTime(created_at), request_id, token_name, model_name, state, amount(quota), task_id ?? '']
    .join('  ')
    .trimEnd();
}
