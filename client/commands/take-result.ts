import { type EndedTask, NotFoundError, TaskFailedError, UnigateError } from '../errors.ts';
import type { ReceiveOptions } from '../tasks/read-resuming.ts';
import type { TaskFamily } from '../tasks/task-family.ts';
import { AdvisedError } from './advice.ts';
import type { Invocation, Options } from './command-line.ts';
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
  waitFor(id: string, options: Watching, more: More): Promise<Done>;
  /** The bytes of the file that belongs to the output of that number, from 0. */
  receive(done: Done, options: ReceiveOptions, index: number): AsyncIterable<Uint8Array>;
}

interface Watching {
  signal: AbortSignal;
  onProgress: (progress: { status: string; percent: number | undefined }) => void;
}

interface More {
  /** Starts a task that the first one leads to, and gives its id. */
  follow(create: (signal: AbortSignal) => Promise<string>): Promise<string>;
  /** Writes a line on standard error. */
  tell(line: string): void;
}

/** Where the results go, and which options of the command still say something about a task that runs already. */
interface Taking {
  outputs: readonly string[];
  lasting?: readonly (keyof Options)[];
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
  taking: Taking = { outputs: [readOutput(invocation.options, terminal)] },
): Promise<void> {
  const { options } = invocation;
  const { outputs, lasting = [] } = taking;
  if (options.resume !== undefined) checkResume(invocation, lasting);
  const progress = new Progress(terminal.stderr, options.quiet);
  let id = options.resume;
  let left = lasting;
  let done: Promise<Done> | undefined;

  async function begin(create: (signal: AbortSignal) => Promise<string>): Promise<string> {
    progress.wait('starting');
    id = await create(lateAfter(signal));
    progress.tell(`task ${id}`);
    return id;
  }
  async function start(): Promise<string> {
    if (id !== undefined) return id;
    const request = await making.readRequest();
    return begin((late) => making.create(request, late));
  }
  async function finish(): Promise<Done> {
    const onProgress: Watching['onProgress'] = ({ status, percent }) => progress.wait(status, percent);
    return making.waitFor(
      await start(),
      { signal, onProgress },
      { follow, tell: (line) => progress.tell(line) },
    );
  }
  async function follow(create: (signal: AbortSignal) => Promise<string>): Promise<string> {
    const next = await begin(create);
    // They are about the task before.
    left = [];
    return next;
  }
  async function* result(index: number): AsyncGenerator<Uint8Array, void> {
    progress.bytes = 0;
    done ??= finish();
    const onBytes = (bytes: number, total?: number) => progress.received(bytes, total);
    yield* making.receive(await done, { signal, onBytes }, index);
    if (progress.bytes === 0) throw new UnigateError('The gateway sent an empty file.');
  }

  try {
    // A file is opened before anything is paid for; standard output is open already, and stops at once with the signal.
    if (outputs.includes('-')) await start();
    for (const [index, output] of outputs.entries())
      await deliver(result(index), output, progress, terminal, signal);
  } catch (error) {
    progress.clear();
    const over = error instanceof TaskFailedError || error instanceof NotFoundError;
    if (id === undefined || over) throw error;
    throw new AdvisedError(`Go on with: ${resumption(invocation, id, left)}`, error);
  }
}

/** The command line that takes a task up again. */
function resumption(
  { command, options }: Invocation,
  id: string,
  lasting: readonly (keyof Options)[],
): string {
  const { output = '-', 'base-url': gateway } = options;
  const words = ['npx', 'unigate', command, '--resume', id, '-o', output];
  if (gateway) words.push('--base-url', gateway);
  for (const name of lasting) {
    const value = options[name];
    if (typeof value === 'string') words.push(`--${name}`, value);
    else if (value) words.push(`--${name}`);
  }
  return words.map(quoted).join(' ');
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
