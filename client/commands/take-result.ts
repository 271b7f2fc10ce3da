import { type EndedTask, NotFoundError, TaskFailedError, UnigateError } from '../errors.ts';
import type { TaskFamily } from '../tasks/task-family.ts';
import type { Invocation } from './command-line.ts';
import { deliver, readOutput } from './deliver.ts';
import { Progress } from './progress.ts';
import { checkResume } from './task-options.ts';
import type { Terminal } from './terminal.ts';

const lastMinuteMs = 5_000;

/** The command ended before its task did, or before its file was here; the message says how to go on. */
export class UnfinishedError extends Error {}

/**
 * Starts a task, or with `--resume` takes up an earlier one, waits for its end and writes what it made. When it is
 * stopped in between, or fails, UnfinishedError names the command that takes the task up again.
 */
export async function takeResult<Request, Created, Task extends EndedTask, Done extends Task>(
  family: TaskFamily<Request, Created, Task, Done>,
  readRequest: () => Promise<Request>,
  invocation: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { command, options } = invocation;
  if (options.resume !== undefined) checkResume(invocation);
  const output = readOutput(options, terminal);
  const progress = new Progress(terminal.stderr, options.quiet);
  let id = options.resume;

  async function start(): Promise<string> {
    if (id !== undefined) return id;
    const request = await readRequest();
    progress.show('starting …');
    id = family.idOf(await family.create(request, { signal: lateAfter(signal) }));
    return id;
  }
  async function* result(): AsyncGenerator<Uint8Array, void> {
    const task = await start();
    await family.waitFor(task, {
      signal,
      onProgress: ({ status, percent }) => progress.wait(`${task} ${status}`, percent || undefined),
    });
    yield* family.receive(task, { signal, onBytes: (bytes, total) => progress.received(bytes, total) });
    if (progress.bytes === 0) throw new UnigateError('The gateway sent an empty file.');
  }

  try {
    // A file is opened before anything is paid for; standard output is open already, and stops at once with the signal.
    if (output === '-') await start();
    await deliver(result(), output, progress, terminal, signal);
  } catch (error) {
    progress.clear();
    const over = error instanceof TaskFailedError || error instanceof NotFoundError;
    if (id === undefined || over) throw error;
    const gateway = options['base-url'] ? ` --base-url ${quoted(options['base-url'])}` : '';
    const again = `npx unigate ${command} --resume ${id} -o ${quoted(output)}${gateway}`;
    throw new UnfinishedError(`Go on with: ${again}`, { cause: error });
  }
}

/** A signal that follows another one late, so that an answer on its way, and the task id in it, still comes. */
function lateAfter(signal: AbortSignal): AbortSignal {
  const late = new AbortController();
  const stop = () => void setTimeout(() => late.abort(signal.reason), lastMinuteMs).unref();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) late.abort(signal.reason);
  return late.signal;
}

function quoted(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
