import { type EndedTask, NotFoundError, TaskFailedError, UnigateError } from '../errors.ts';
import type { ReceiveOptions } from '../tasks/read-resuming.ts';
import type { TaskFamily } from '../tasks/task-family.ts';
import { AdvisedError } from './advice.ts';
import type { Invocation } from './command-line.ts';
import { deliver, readOutput } from './deliver.ts';
import { Progress } from './progress.ts';
import { checkResume } from './task-options.ts';
import type { Terminal } from './terminal.ts';

const lastMinuteMs = 5_000;

/** What a command makes, in steps. */
export interface Making<Request, Done> {
  readRequest(): Promise<Request>;
  /** Starts a task and gives its id. */
  create(request: Request, signal: AbortSignal): Promise<string>;
  /** Waits for the end of a task. */
  waitFor(id: string, options: Watching): Promise<Done>;
  /** The bytes of what the task made. */
  receive(done: Done, options: ReceiveOptions): AsyncIterable<Uint8Array>;
}

interface Watching {
  signal: AbortSignal;
  onProgress: (progress: { status: string; percent: number | undefined }) => void;
}

/** The steps of a task with one file. */
export function makingOf<Request, Created, Task extends EndedTask, Done extends Task>(
  family: TaskFamily<Request, Created, Task, Done>,
  readRequest: () => Promise<Request>,
): Making<Request, string> {
  return {
    readRequest,
    create: async (request, signal) => family.idOf(await family.create(request, { signal })),
    async waitFor(id, options) {
      await family.waitFor(id, options);
      return id;
    },
    receive: (id, options) => family.receive(id, options),
  };
}

/**
 * Starts a task, or with `--resume` takes up an earlier one, waits for its end and writes what it made. When it is
 * stopped in between, or fails, AdvisedError names the command that takes the task up again.
 */
export async function takeResult<Request, Done>(
  making: Making<Request, Done>,
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
    const request = await making.readRequest();
    progress.wait('starting');
    id = await making.create(request, lateAfter(signal));
    progress.tell(`task ${id}`);
    return id;
  }
  async function* result(): AsyncGenerator<Uint8Array, void> {
    const done = await making.waitFor(await start(), {
      signal,
      onProgress: ({ status, percent }) => progress.wait(status, percent),
    });
    const onBytes = (bytes: number, total?: number) => progress.received(bytes, total);
    yield* making.receive(done, { signal, onBytes });
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
    const again = `npx unigate ${command} --resume ${quoted(id)} -o ${quoted(output)}${gateway}`;
    throw new AdvisedError(`Go on with: ${again}`, error);
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
