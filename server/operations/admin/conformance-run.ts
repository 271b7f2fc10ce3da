import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { RunFailed } from '../../../generated/events.ts';
import type { Timers } from '../../lib/timers.ts';
import { exemptVariable } from '../../outbound/connection-guard.ts';
import type { Logger } from '../../telemetry/logger.ts';

interface RunOptions {
  /** Path of the program. */
  kit: string;
  args: readonly string[];
  /** Key of the tested server. Passed to the program in its environment. */
  key: string;
  /** Addresses (`host:port`) that are allowed although they are private. Undefined: every address is allowed. */
  exempt: readonly string[] | undefined;
  limitMs: number;
  timers: Timers;
  logger: Logger;
}

const preload = new URL('../../outbound/guarded-process.ts', import.meta.url).href;
/** Variables that the program inherits. The others contain secrets of the gateway. */
const inherited = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'NODE_COMPILE_CACHE', 'NODE_EXTRA_CA_CERTS'];
const maxHeapMb = 512;
const maxOutputBytes = 64 * 1024 * 1024;
const maxErrorCharacters = 2_000;
/** Time in which a stopped run deletes what it created, in milliseconds. */
const cleanUpMs = 30_000;
const lowPriority = 10;
const finalEvents = ['run_finished', 'run_failed'];

/** The conformance kit in a process of its own. */
export class ConformanceRun {
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  readonly #options: RunOptions;
  readonly #process: ChildProcessByStdio<null, Readable, Readable>;
  readonly #deadline: { cancel(): void };
  #kill: { cancel(): void } | undefined;
  #isOver = false;
  /** Why the gateway stopped the run. */
  #problem: string | undefined;
  #errors = '';

  /** Returns the path of the kit's program. Undefined if the package is not installed. */
  static findKit(): string | undefined {
    try {
      const packageFile = findPackageJSON('@unigate/conformance', import.meta.url);
      const program = packageFile && join(packageFile, '..', 'bin', 'unigate-conformance.js');
      return program !== undefined && existsSync(program) ? program : undefined;
    } catch {
      return undefined;
    }
  }

  constructor(options: RunOptions) {
    const { kit, args, key, exempt, limitMs, timers } = options;
    this.#options = options;
    const env = Object.fromEntries(inherited.map((name) => [name, process.env[name]]));
    // `ipc` lets the process end with this one.
    const child = spawn(
      process.execPath,
      ['--import', preload, `--max-old-space-size=${maxHeapMb}`, kit, '--events', ...args],
      {
        cwd: fileURLToPath(new URL('.', import.meta.url)),
        env: {
          ...env,
          UNIGATE_API_KEY: key,
          ...(exempt !== undefined && { [exemptVariable]: JSON.stringify(exempt) }),
        },
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      },
    ) as ChildProcessByStdio<null, Readable, Readable>;
    this.#process = child;
    // The results may wait, the other requests of the gateway may not.
    if (child.pid !== undefined) lowerPriority(child.pid);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = (this.#errors + text).slice(-maxErrorCharacters);
    });
    this.ended = new Promise<void>((resolve) => {
      child.once('error', (error) => {
        this.#errors += error.message;
        resolve();
      });
      child.once('close', () => resolve());
    }).then(() => {
      this.#isOver = true;
      this.#deadline.cancel();
      this.#kill?.cancel();
    });
    this.#deadline = timers.alarm(limitMs, () =>
      this.stop(`The run exceeded its time limit of ${limitMs / 60_000} minutes.`),
    );
  }

  /** Ends the run, which first deletes what it created. */
  stop(problem?: string): void {
    this.#problem ??= problem;
    if (this.#isOver || this.#kill !== undefined) return;
    this.#process.kill('SIGTERM');
    this.#kill = this.#options.timers.alarm(cleanUpMs, () => this.#process.kill('SIGKILL'));
  }

  /** The events of the run as server-sent events. The last one is `run_finished` or `run_failed`. */
  async *events(): AsyncGenerator<Buffer> {
    let size = 0;
    let rest = '';
    const output = this.#process.stdout.setEncoding('utf8') as AsyncIterable<string>;
    for await (const text of output) {
      size += text.length;
      if (size > maxOutputBytes) this.stop('The results exceed the size limit of 64 MB.');
      if (this.#problem !== undefined) break;
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const type = /^\{"type":"(\w+)"/.exec(line)?.[1];
        if (type === undefined) continue;
        yield eventOf(type, line);
        if (!finalEvents.includes(type)) continue;
        // Idle connections would delay the exit, and the next run.
        this.#process.kill('SIGKILL');
        await this.ended;
        return;
      }
    }
    if (this.#problem === undefined) await this.ended;
    yield this.#failure();
  }

  #failure(): Buffer {
    const { logger, key } = this.#options;
    if (this.#problem === undefined)
      logger.error({ output: this.#errors.replaceAll(key, '***') }, 'the conformance kit failed');
    const message = this.#problem ?? 'The conformance kit failed. The log of the gateway has its output.';
    const event: RunFailed = { type: 'run_failed', message };
    return eventOf(event.type, JSON.stringify(event));
  }
}

const eventOf = (type: string, data: string) => Buffer.from(`event: ${type}\ndata: ${data}\n\n`);

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, lowPriority);
  } catch {
    // The process has ended already.
  }
}
