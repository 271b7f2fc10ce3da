import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, vi } from 'vitest';
import { onServer } from '../store/engines.ts';
import { compiled, endsWithParent } from '../support/child-node.ts';

const main = fileURLToPath(new URL('../../server/main.ts', import.meta.url));

const running = new Set<ChildProcess>();
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
});

export interface GatewayOptions {
  dataDir: string;
  /** Path of the configuration file. */
  config: string;
  databaseUrl?: string;
  /** The fault point at which it kills itself. */
  dieAt?: string;
  /** A module that it loads before anything else. */
  preload?: string;
  /** Variables beside those. */
  environment?: Readonly<Record<string, string>>;
}

/** How it ended, and what it said on standard error. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  said: string;
}

/** The gateway as an operator starts it, in a process of its own that can be killed. */
export class GatewayProcess {
  readonly url: string;
  /** What it has printed so far, and said on standard error. */
  readonly output: Readonly<{ printed: string; said: string }>;
  readonly #process: ChildProcess;
  readonly #exited: Promise<Ended>;
  readonly #session: string | undefined;

  private constructor(
    url: string,
    child: ChildProcess,
    output: GatewayProcess['output'],
    exited: Promise<Ended>,
    session?: string,
  ) {
    this.url = url;
    this.output = output;
    this.#process = child;
    this.#exited = exited;
    this.#session = session;
  }

  /** Resolves when it listens. @throws Error when it ends before that. */
  static async start({
    dataDir,
    config,
    databaseUrl,
    dieAt,
    preload,
    environment,
  }: GatewayOptions): Promise<GatewayProcess> {
    const session = databaseUrl === undefined ? undefined : `gateway_${randomUUID()}`;
    const database = databaseUrl === undefined ? undefined : new URL(databaseUrl);
    if (session !== undefined) database?.searchParams.set('application_name', session);
    const child = spawn(process.execPath, [...endsWithParent, main], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        ...process.env,
        ...compiled,
        HOST: '127.0.0.1',
        PORT: '0',
        BOOTSTRAP_KEY: '',
        PUBLIC_URL: '',
        LOG_LEVEL: 'silent',
        DATA_DIR: dataDir,
        CONFIG: config,
        DATABASE_URL: database?.href ?? '',
        FAULT_POINT: dieAt ?? '',
        ...environment,
        ...(preload === undefined ? {} : { NODE_OPTIONS: `--import=${preload}` }),
      },
    });
    running.add(child);
    child.once('exit', () => running.delete(child));
    const output = { printed: '', said: '' };
    child.stderr.on('data', (piece: Buffer) => {
      output.said += piece.toString('utf8');
    });
    const exited = new Promise<Ended>((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal, said: output.said }));
    });
    for await (const line of createInterface({ input: child.stdout })) {
      output.printed += `${line}\n`;
      const url = /^listening on (https?:\S+)$/.exec(line)?.[1];
      if (url === undefined) continue;
      child.stdout.on('data', (piece: Buffer) => {
        output.printed += piece.toString('utf8');
      });
      child.stdout.resume();
      return new GatewayProcess(url, child, output, exited, session);
    }
    throw new Error(`the gateway ended before it listened: ${JSON.stringify(await exited)}`);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Resolves when it has ended, whatever the reason. */
  get ended(): Promise<Ended> {
    return this.#exited;
  }

  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    this.#process.kill(signal);
  }

  /** Resolves when it was killed, by itself or by `kill`, and the database has nothing of it under way. */
  async killed(): Promise<void> {
    expect(await this.#exited).toMatchObject({ signal: 'SIGKILL' });
    if (this.#session === undefined) return;
    const sessions = 'select 1 from pg_stat_activity where application_name = $1';
    // The server notices a lost client a little later, and may still commit what it was sent.
    await vi.waitFor(
      async () =>
        expect((await onServer((client) => client.query(sessions, [this.#session]))).rows).toEqual([]),
      { timeout: 10_000 },
    );
  }
}
