import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, vi } from 'vitest';
import { onServer } from '../store/engines.ts';
import { compiled, endsWithParent } from '../support/child-node.ts';
import type { ChildOptions } from './node-child.ts';

const module = fileURLToPath(new URL('./node-child.ts', import.meta.url));

const running = new Set<ChildProcess>();
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** A gateway in its own process. */
export class Child {
  /** Words of each line of its output. */
  readonly lines: string[][] = [];
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #session = `node_${randomUUID()}`;
  readonly #onPostgres: boolean;

  /** `dieAt`: fault point at which it kills itself. */
  constructor(options: ChildOptions, dieAt?: string) {
    const { databaseUrl } = options.store;
    this.#onPostgres = databaseUrl !== undefined;
    const store = this.#onPostgres
      ? { ...options.store, databaseUrl: `${databaseUrl}?application_name=${this.#session}` }
      : options.store;
    const child = spawn(
      process.execPath,
      [...endsWithParent, module, JSON.stringify({ ...options, store })],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
        env: {
          ...process.env,
          ...compiled,
          ...(dieAt === undefined ? {} : { FAULT_POINT: dieAt }),
        },
      },
    );
    running.add(child);
    child.once('exit', () => running.delete(child));
    const exited = once(child, 'exit');
    const output = createInterface({ input: child.stdout }).on('line', (line) =>
      this.lines.push(line.split(' ')),
    );
    this.#process = child;
    this.#ended = Promise.all([exited, once(output, 'close')]).then(([exit]) => exit);
  }

  /** Ids of the lines that start with a word. */
  idsOf(word: string): string[] {
    return this.lines.filter(([first]) => first === word).map(([, id = '']) => id);
  }

  get token(): { id: number; userId: number } {
    const [, id, userId] = this.lines.find(([word]) => word === 'token') ?? [];
    return { id: Number(id), userId: Number(userId) };
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  /**
   * Resolves with exit code and signal when the process has ended, its output was read, and its database sessions are
   * closed.
   */
  async ended(): Promise<unknown> {
    const exit = await this.#ended;
    // The server notices a lost client later, and may still commit its last statements.
    const sessions = 'select 1 from pg_stat_activity where application_name = $1';
    const gone = async () =>
      expect((await onServer((client) => client.query(sessions, [this.#session]))).rows).toEqual([]);
    if (this.#onPostgres) await vi.waitFor(gone, { timeout: 10_000 });
    return exit;
  }
}
