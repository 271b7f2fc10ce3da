import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { CpuUsed, LongestTurn, Question } from './meter.ts';

/** The cores for the process under test and for everything else; undefined where processes cannot be pinned. */
export const cores: { measured: string; others: string } | undefined = findCores();

function findCores() {
  try {
    const status = readFileSync('/proc/self/status', 'utf8');
    const list = (/^Cpus_allowed_list:\s*(.*)$/m.exec(status)?.[1] ?? '').split(',').flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
    const [measured, ...others] = list;
    execFileSync('taskset', ['--version'], { stdio: 'ignore' });
    return measured === undefined || others.length === 0
      ? undefined
      : { measured: String(measured), others: others.join(',') };
  } catch {
    return undefined;
  }
}

const running = new Set<ChildProcess>();

/** Ends whatever is still running, at once. */
export function killAll(): void {
  for (const child of running) child.kill('SIGKILL');
}

interface StartOptions {
  /** Module in this folder, or a path. */
  module: string;
  /** `all`: wherever the system puts it. */
  core: 'measured' | 'others' | 'all';
  arguments?: readonly string[];
  nodeOptions?: readonly string[];
  environment?: Readonly<Record<string, string>>;
  /** Finds the origin in the line that says that it is ready; default: `listening on http://…`. */
  ready?: RegExp;
}

function start({
  module,
  core,
  arguments: more = [],
  nodeOptions = [],
  environment,
}: StartOptions): ChildProcess {
  const node = [...nodeOptions, module, ...more];
  const [command, ...rest] =
    cores === undefined || core === 'all'
      ? [process.execPath, ...node]
      : ['taskset', '-c', cores[core], process.execPath, ...node];
  const child = spawn(command ?? '', rest, {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, ...environment },
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** The next message of a process. @throws Error when it ends instead. */
async function nextMessage(child: ChildProcess): Promise<unknown> {
  const heard = new AbortController();
  const { signal } = heard;
  const ended = async () => {
    const [code, name] = (await once(child, 'exit', { signal })) as [number | null, string | null];
    throw new Error(`a process of the benchmark ended with ${code ?? name}`);
  };
  try {
    const [message] = (await Promise.race([once(child, 'message', { signal }), ended()])) as [unknown];
    return message;
  } finally {
    heard.abort();
  }
}

/** The path of a module in this folder. */
export function here(module: string): string {
  return fileURLToPath(new URL(module, import.meta.url));
}

/** A server of the benchmark in a process of its own. */
export class ServerProcess {
  readonly origin: string;
  /** From its start until it was ready. */
  readonly startedMs: number;
  /** Resolves when it has ended, whatever the reason, with its exit code or signal. */
  readonly ended: Promise<number | string | null>;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, origin: string, startedMs: number) {
    this.#child = child;
    this.ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
    this.origin = origin;
    this.startedMs = startedMs;
  }

  /** Resolves once the process has printed where it listens. */
  static async start(options: StartOptions): Promise<ServerProcess> {
    const began = performance.now();
    const { ready = /listening on (http:\S+)/ } = options;
    const meter = ['--import', new URL('meter.ts', import.meta.url).href];
    const child = start({ ...options, nodeOptions: [...meter, ...(options.nodeOptions ?? [])] });
    const { stdout } = child;
    if (stdout === null) throw new Error('the process has no output');
    const lines = createInterface({ input: stdout });
    for await (const line of lines) {
      const origin = ready.exec(line)?.[1];
      if (origin === undefined) continue;
      stdout.resume();
      return new ServerProcess(child, origin.replace(/\/$/, ''), performance.now() - began);
    }
    throw new Error(`${options.module} ended before it listened`);
  }

  get port(): number {
    return Number(new URL(this.origin).port);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The processes that it has started, on Linux. */
  async workers(): Promise<number[]> {
    const { pid } = this;
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return children.split(' ').filter(Boolean).map(Number);
  }

  /** CPU time of the process so far, all threads, user and system, in microseconds. */
  async cpuMicroseconds(): Promise<number> {
    return (await this.cpuUsed()).cpuMicroseconds;
  }

  /** The same, and what of it the main thread took. */
  cpuUsed(): Promise<CpuUsed> {
    return this.#ask('cpu');
  }

  /** Of all its processes, each after a full collection where it was started with --expose-gc. */
  async residentBytes(): Promise<number> {
    const { residentBytes } = await this.#ask<{ residentBytes: number }>('memory');
    return residentBytes;
  }

  /** The longest turn of its event loop since the last call. */
  longestTurn(): Promise<LongestTurn> {
    return this.#ask('turn');
  }

  async #ask<Answer>(question: Question): Promise<Answer> {
    const answer = nextMessage(this.#child);
    this.#child.send(question);
    return (await answer) as Answer;
  }

  /** SIGTERM. @throws Error when the process does not end with 0. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    const how = await this.ended;
    if (how !== 0 && how !== 'SIGTERM') throw new Error(`a server ended with ${how}`);
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }
}

/** A load tool in a process of its own, which answers each request with `{ result }` or `{ error }`. */
export class LoadProcess<Request extends object, Result> {
  readonly #child: ChildProcess;

  /** @param module in this folder */
  constructor(module: string, core: StartOptions['core'] = 'others') {
    this.#child = start({ module: here(module), core });
  }

  /** @throws Error when an answer was not as it must be. */
  async run(request: Request): Promise<Result> {
    const answer = nextMessage(this.#child);
    this.#child.send(request);
    const message = (await answer) as { result: Result } | { error: string };
    if ('error' in message) throw new Error(message.error);
    return message.result;
  }

  async stop(): Promise<void> {
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await exit;
  }
}
