import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import type { CpuUsed, LongestTurn, MeterQuery } from './meter.ts';

/** The cores for the process under test and for all others. Undefined if processes cannot be pinned. */
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

/** Kills all running processes. */
export function killAll(): void {
  for (const child of running) child.kill('SIGKILL');
}

interface StartOptions {
  /** Module in this folder, or a path. */
  module: string;
  /** `all`: not pinned. */
  core: 'measured' | 'others' | 'all';
  arguments?: readonly string[];
  nodeOptions?: readonly string[];
  environment?: Readonly<Record<string, string>>;
  /** Extracts the origin from the line that reports readiness. Default: `listening on http://…`. */
  ready?: RegExp;
  /** `at a failed start`: its error output is part of the error if it exits before it is ready, otherwise discarded. Default: `always`. */
  showsErrors?: 'always' | 'at a failed start';
}

function start({
  module,
  core,
  arguments: more = [],
  nodeOptions = [],
  environment,
  showsErrors = 'always',
}: StartOptions): ChildProcess {
  const node = [...nodeOptions, module, ...more];
  const [command, ...rest] =
    cores === undefined || core === 'all'
      ? [process.execPath, ...node]
      : ['taskset', '-c', cores[core], process.execPath, ...node];
  const child = spawn(command ?? '', rest, {
    stdio: ['ignore', 'pipe', showsErrors === 'always' ? 'inherit' : 'pipe', 'ipc'],
    env: { ...process.env, ...environment },
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Waits for the next message of a process. @throws Error if it exits instead */
async function nextMessage(child: ChildProcess): Promise<unknown> {
  const settled = new AbortController();
  const { signal } = settled;
  const ended = async () => {
    const [code, name] = (await once(child, 'exit', { signal })) as [number | null, string | null];
    throw new Error(`a benchmark process exited with ${code ?? name}`);
  };
  try {
    const [message] = (await Promise.race([once(child, 'message', { signal }), ended()])) as [unknown];
    return message;
  } finally {
    settled.abort();
  }
}

/** Returns the path of a module in this folder. */
export function here(module: string): string {
  return fileURLToPath(new URL(module, import.meta.url));
}

/** A server in a separate process. */
export class ServerProcess {
  readonly origin: string;
  /** Duration from its start until it was ready. */
  readonly startedMs: number;
  /** Resolves with the exit code or signal when it has exited. */
  readonly ended: Promise<number | string | null>;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, origin: string, startedMs: number) {
    this.#child = child;
    this.ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
    this.origin = origin;
    this.startedMs = startedMs;
  }

  /** Starts a process. Resolves when it listens. */
  static async start(options: StartOptions): Promise<ServerProcess> {
    const startedAt = performance.now();
    const { ready = /listening on (http:\S+)/ } = options;
    const meter = ['--import', new URL('meter.ts', import.meta.url).href];
    // The gateway's own options first: they enable the compile cache, without which the meter loads Node's TypeScript compiler.
    const child = start({ ...options, nodeOptions: [...(options.nodeOptions ?? []), ...meter] });
    const { stdout, stderr } = child;
    if (stdout === null) throw new Error('the process has no output');
    let errors = '';
    const addErrors = (text: string) => {
      errors += text;
    };
    stderr?.setEncoding('utf8').on('data', addErrors);
    const lines = createInterface({ input: stdout });
    for await (const line of lines) {
      const origin = ready.exec(line)?.[1];
      if (origin === undefined) continue;
      stdout.resume();
      // A process that nobody reads would wait when the pipe is full.
      stderr?.off('data', addErrors).resume();
      return new ServerProcess(child, origin.replace(/\/$/, ''), performance.now() - startedAt);
    }
    if (stderr !== null) await finished(stderr);
    throw new Error(
      [`${options.module} exited before it listened`, errors.trim()].filter(Boolean).join(': '),
    );
  }

  get port(): number {
    return Number(new URL(this.origin).port);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Returns the ids of its child processes on Linux. */
  async workers(): Promise<number[]> {
    const { pid } = this;
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return children.split(' ').filter(Boolean).map(Number);
  }

  /** Returns the CPU time of the process in microseconds: all threads, user and system. */
  async cpuMicroseconds(): Promise<number> {
    return (await this.cpuUsed()).cpuMicroseconds;
  }

  /** Returns the CPU time of the process and of its main thread. */
  cpuUsed(): Promise<CpuUsed> {
    return this.#query('cpu');
  }

  /** Returns the memory of all its processes, each after a full garbage collection if it has --expose-gc. */
  async residentBytes(): Promise<number> {
    const { residentBytes } = await this.#query<{ residentBytes: number }>('memory');
    return residentBytes;
  }

  /** Returns the longest turn of its event loop since the last call. */
  longestTurn(): Promise<LongestTurn> {
    return this.#query('turn');
  }

  async #query<Reply>(query: MeterQuery): Promise<Reply> {
    const response = nextMessage(this.#child);
    this.#child.send(query);
    return (await response) as Reply;
  }

  /** Sends SIGTERM. @throws Error if the process does not exit with 0 */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    const exit = await this.ended;
    if (exit !== 0 && exit !== 'SIGTERM') throw new Error(`a server exited with ${exit}`);
  }

  /** Sends SIGKILL. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }
}

/** A load tool in a separate process. It answers each request with `{ result }` or `{ error }`. */
export class LoadProcess<Request extends object, Result> {
  readonly #child: ChildProcess;

  /** @param module in this folder */
  constructor(module: string, core: StartOptions['core'] = 'others') {
    this.#child = start({ module: here(module), core });
  }

  /** @throws Error if a response was wrong */
  async run(request: Request): Promise<Result> {
    const response = nextMessage(this.#child);
    this.#child.send(request);
    const message = (await response) as { result: Result } | { error: string };
    if ('error' in message) throw new Error(message.error);
    return message.result;
  }

  async stop(): Promise<void> {
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await exit;
  }
}
