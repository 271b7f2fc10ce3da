import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ChildOptions } from './node-child.ts';

const module = fileURLToPath(new URL('./node-child.ts', import.meta.url));

/** Compiled code of the children, so that each but the first starts in half the time. */
const compiled = mkdtempSync(join(tmpdir(), 'unigate-compiled-'));
process.once('exit', () => rmSync(compiled, { recursive: true, force: true }));

/** A gateway in a process of its own. */
export class Child {
  /** What it said it was told is done, a line split into words each. */
  readonly told: string[][] = [];
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  /** `dieAt`: the fault point at which it kills itself. */
  constructor(options: ChildOptions, dieAt?: string) {
    const child = spawn(process.execPath, [module, JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        NODE_COMPILE_CACHE: compiled,
        ...(dieAt === undefined ? {} : { FAULT_POINT: dieAt }),
      },
    });
    const exited = once(child, 'exit');
    const lines = createInterface({ input: child.stdout }).on('line', (line) =>
      this.told.push(line.split(' ')),
    );
    this.#process = child;
    this.#ended = Promise.all([exited, once(lines, 'close')]).then(([exit]) => exit);
  }

  /** The ids it named with a word. */
  named(what: string): string[] {
    return this.told.filter(([word]) => word === what).map(([, id = '']) => id);
  }

  get token(): { id: number; userId: number } {
    const [, id, userId] = this.told.find(([word]) => word === 'token') ?? [];
    return { id: Number(id), userId: Number(userId) };
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  /** Exit code and signal, once it is gone and all it said is read. */
  ended(): Promise<unknown> {
    return this.#ended;
  }
}
