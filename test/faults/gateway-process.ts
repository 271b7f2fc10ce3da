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
  /** The fault point at which the process kills itself. */
  dieAt?: string;
  /** A module to load first. */
  preload?: string;
  /** Additional environment variables. */
  environment?: Readonly<Record<string, string>>;
}

/** Exit code, signal and standard error of the process. */
export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  stderr: string;
}

/** A gateway in a separate process that can be killed. */
export class GatewayProcess {
  readonly url: string;
  /** Output so far. */
  readonly output: Readonly<{ stdout: string; stderr: string }>;
  readonly #process: ChildProcess;
  readonly #exited: Promise<ProcessExit>;
  readonly #applicationName: string | undefined;

  private constructor(
    url: string,
    child: ChildProcess,
    output: GatewayProcess['output'],
    exited: Promise<ProcessExit>,
    applicationName?: string,
  ) {
    this.url = url;
    this.output = output;
    this.#process = child;
    this.#exited = exited;
    this.#applicationName = applicationName;
  }

  /** Resolves when it listens. @throws Error if it exits earlier */
  static async start({
    dataDir,
    config,
    databaseUrl,
    dieAt,
    preload,
    environment,
  }: GatewayOptions): Promise<GatewayProcess> {
    const applicationName = databaseUrl === undefined ? undefined : `gateway_${randomUUID()}`;
    const database = databaseUrl === undefined ? undefined : new URL(databaseUrl);
    if (applicationName !== undefined) database?.searchParams.set('application_name', applicationName);
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
    const output = { stdout: '', stderr: '' };
    child.stderr.on('data', (chunk: Buffer) => {
      output.stderr += chunk.toString('utf8');
    });
    const exited = new Promise<ProcessExit>((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal, stderr: output.stderr }));
    });
    for await (const line of createInterface({ input: child.stdout })) {
      output.stdout += `${line}\n`;
      const url = /^listening on (https?:\S+)$/.exec(line)?.[1];
      if (url === undefined) continue;
      child.stdout.on('data', (chunk: Buffer) => {
        output.stdout += chunk.toString('utf8');
      });
      child.stdout.resume();
      return new GatewayProcess(url, child, output, exited, applicationName);
    }
    throw new Error(`the gateway ended before it listened: ${JSON.stringify(await exited)}`);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Resolves when the process has exited for any reason. */
  get ended(): Promise<ProcessExit> {
    return this.#exited;
  }

  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    this.#process.kill(signal);
  }

  /** Waits until it was killed, by itself or by `kill`, and its database sessions have ended. */
  async waitForKill(): Promise<void> {
    expect(await this.#exited).toMatchObject({ signal: 'SIGKILL' });
    if (this.#applicationName === undefined) return;
    const sessions = 'select 1 from pg_stat_activity where application_name = $1';
    // The server detects a lost client later, and may still commit statements that it received.
    await vi.waitFor(
      async () =>
        expect((await onServer((client) => client.query(sessions, [this.#applicationName]))).rows).toEqual(
          [],
        ),
      { timeout: 10_000 },
    );
  }
}
