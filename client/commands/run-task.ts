import { type EndedTask, NotFoundError, TaskFailedError, UnigateError } from '../errors.ts';
import type { FileTasks } from '../tasks/file-tasks.ts';
import type { ReceiveOptions } from '../tasks/resumable-download.ts';
import type { Invocation, Options } from './command-line.ts';
import { ErrorWithHint } from './error-with-hint.ts';
import { Progress } from './progress.ts';
import { checkResume } from './task-options.ts';
import type { Terminal } from './terminal.ts';
import { readOutput, writeOutput } from './write-output.ts';

const abortDelayMs = 5_000;

/** The steps of a command that runs a task. */
export interface TaskSteps<Request, Done> {
  readRequest(): Promise<Request>;
  /** Starts a task. Returns its id. */
  create(request: Request, signal: AbortSignal): Promise<string>;
  /** Waits for the end of a task. */
  waitFor(id: string, callbacks: WaitCallbacks, actions: TaskActions): Promise<Done>;
  /** Streams the file for the output with this index. */
  receive(done: Done, options: ReceiveOptions, index: number): AsyncIterable<Uint8Array>;
}

interface WaitCallbacks {
  signal: AbortSignal;
  onProgress: (progress: { status: string; percent: number | undefined }) => void;
}

interface TaskActions {
  /** Starts a follow-up task. Returns its id. */
  follow(create: (signal: AbortSignal) => Promise<string>): Promise<string>;
  /** Prints a line on standard error. */
  printLine(line: string): void;
}

/** Output files, and the options that still apply when a task is resumed. */
interface TaskOutputs {
  outputs: readonly string[];
  resumableOptions?: readonly (keyof Options)[];
}

/** Returns the steps of a task with one file. */
export function fileTaskSteps<Request, Created, Task extends EndedTask, Done extends Task>(
  family: FileTasks<Request, Created, Task, Done>,
  readRequest: () => Promise<Request>,
): TaskSteps<Request, string> {
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
 * Starts a task, or resumes one with `--resume`, waits for its end and writes its results. If it is interrupted or fails, it
 * throws ErrorWithHint with the command that resumes the task.
 */
export async function runTask<Request, Done>(
  steps: TaskSteps<Request, Done>,
  invocation: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
  target: TaskOutputs = { outputs: [readOutput(invocation.options, terminal)] },
): Promise<void> {
  const { options } = invocation;
  const { outputs, resumableOptions = [] } = target;
  if (options.resume !== undefined) checkResume(invocation, resumableOptions);
  const progress = new Progress(terminal.stderr, options.quiet);
  let id = options.resume;
  let applicableOptions = resumableOptions;
  let done: Promise<Done> | undefined;

  async function startTask(create: (signal: AbortSignal) => Promise<string>): Promise<string> {
    progress.showStatus('starting');
    id = await create(delayedSignal(signal));
    progress.printLine(`task ${id}`);
    return id;
  }
  async function start(): Promise<string> {
    if (id !== undefined) return id;
    const request = await steps.readRequest();
    return startTask((createSignal) => steps.create(request, createSignal));
  }
  async function finish(): Promise<Done> {
    const onProgress: WaitCallbacks['onProgress'] = ({ status, percent }) =>
      progress.showStatus(status, percent);
    return steps.waitFor(
      await start(),
      { signal, onProgress },
      { follow, printLine: (line) => progress.printLine(line) },
    );
  }
  async function follow(create: (signal: AbortSignal) => Promise<string>): Promise<string> {
    const next = await startTask(create);
    // The options concern only the first task.
    applicableOptions = [];
    return next;
  }
  async function* result(index: number): AsyncGenerator<Uint8Array, void> {
    progress.bytes = 0;
    done ??= finish();
    const onBytes = (bytes: number, total?: number) => progress.showBytes(bytes, total);
    yield* steps.receive(await done, { signal, onBytes }, index);
    if (progress.bytes === 0) throw new UnigateError('The gateway sent an empty file.');
  }

  try {
    // `writeOutput` opens a file before the task is charged. Standard output is already open.
    if (outputs.includes('-')) await start();
    for (const [index, output] of outputs.entries())
      await writeOutput(result(index), output, progress, terminal, signal);
  } catch (error) {
    progress.clear();
    const isFinal = error instanceof TaskFailedError || error instanceof NotFoundError;
    if (id === undefined || isFinal) throw error;
    throw new ErrorWithHint(`Resume with: ${resumeCommand(invocation, id, applicableOptions)}`, error);
  }
}

/** Returns the command that resumes a task. */
function resumeCommand(
  { command, options }: Invocation,
  id: string,
  resumableOptions: readonly (keyof Options)[],
): string {
  const { output = '-', 'base-url': gateway } = options;
  const words = ['npx', 'unigate', command, '--resume', id, '-o', output];
  if (gateway) words.push('--base-url', gateway);
  for (const name of resumableOptions) {
    const value = options[name];
    if (typeof value === 'string') words.push(`--${name}`, value);
    else if (value) words.push(`--${name}`);
  }
  return words.map(quoted).join(' ');
}

/** Returns a signal that aborts 5 s after another one, so that a response in flight can still deliver the task id. */
function delayedSignal(signal: AbortSignal): AbortSignal {
  const delayed = new AbortController();
  const stop = () => void setTimeout(() => delayed.abort(signal.reason), abortDelayMs).unref();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) delayed.abort(signal.reason);
  return delayed.signal;
}

function quoted(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
