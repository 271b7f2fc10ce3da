import type { Callback } from '../callbacks.ts';
import { connectionReason } from '../connection-reason.ts';
import type { Unigate } from '../unigate.ts';
import type { Invocation } from './command-line.ts';
import { follow } from './follow.ts';
import { readInterval } from './task-options.ts';
import { formatTime, oneLine, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const maxResponseMs = 30_000;

/** Status of the response to a forwarded callback, or the reason why there is none. */
type Result = { status: number } | { error: string };

/** `unigate listen`: forwards new callbacks to an address until a signal ends it. */
export async function listen(
  client: Unigate,
  { options }: Invocation,
  { stdout, stderr }: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const target = readTarget(options['forward-to']);
  const batches = follow((query) => client.callbacks.list(query, { signal }), {
    lines: 0,
    intervalMs: readInterval(options),
    signal,
  });
  let isReady = false;
  for await (const batch of batches) {
    for (const callback of batch) {
      const result = await forward(callback, target, signal);
      stdout.write(`${options.json ? jsonOf(callback, result) : oneLine(lineOf(callback, result))}\n`);
    }
    if (!isReady && !options.quiet) stderr.write(`Ready. Callbacks are forwarded to ${target}.\n`);
    isReady = true;
  }
}

function readTarget(text: string | undefined): string {
  if (!text?.trim()) throw new UsageError('--forward-to is required.');
  // As in other tools, `localhost:3000/hook` is an address. URL.parse would read a scheme of that name.
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new UsageError('--forward-to must be an http or https URL without a user name and a password.');
  return url.href;
}

/** Sends a callback once. Rejects only if the command ends. */
async function forward({ headers, body }: Callback, target: string, signal: AbortSignal): Promise<Result> {
  const timeout = AbortSignal.timeout(maxResponseMs);
  try {
    const response = await fetch(target, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
    });
    await response.body?.cancel();
    return { status: response.status };
  } catch (cause) {
    signal.throwIfAborted();
    if (timeout.aborted) return { error: `no response within ${maxResponseMs / 1_000} seconds` };
    return { error: connectionReason(cause) };
  }
}

function jsonOf({ id, task_id, event, created_at }: Callback, result: Result): string {
  return JSON.stringify({ id, task_id, event, created_at, ...result });
}

function lineOf({ id, event, created_at }: Callback, result: Result): string {
  const outcome = 'status' in result ? String(result.status) : `not delivered: ${result.error}`;
  return [formatTime(created_at), id, event, outcome].join('  ');
}
