import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { databaseUrl } from './engines.ts';

/** Whether PgBouncer is installed. In CI it must be. */
export const hasPgBouncer =
  process.env.CI === 'true' || spawnSync('pgbouncer', ['--version']).error === undefined;

/** A PgBouncer in transaction mode in front of one schema of the test database. */
export class PgBouncer {
  readonly url: string;
  readonly #folder: string;
  readonly #port: number;
  #process: ChildProcess | undefined;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
    this.url = `postgres://unigate@127.0.0.1:${port}/unigate`;
  }

  /** `connections`: to the database, which all clients share. */
  static async start(schema: string, connections: number): Promise<PgBouncer> {
    const folder = await mkdtemp(join(tmpdir(), 'unigate-pgbouncer-'));
    await chmod(folder, 0o755);
    const pooler = new PgBouncer(folder, await freePort());
    const { hostname, port, username, password, pathname } = new URL(databaseUrl);
    const server = [
      `host=${hostname}`,
      `port=${port || 5432}`,
      `dbname=${pathname.slice(1)}`,
      `user=${username}`,
      ...(password === '' ? [] : [`password=${password}`]),
      `connect_query='set search_path = ${schema}'`,
    ];
    await writeFile(
      join(folder, 'pgbouncer.ini'),
      [
        '[databases]',
        `unigate = ${server.join(' ')}`,
        '[pgbouncer]',
        'listen_addr = 127.0.0.1',
        `listen_port = ${pooler.#port}`,
        'unix_socket_dir =',
        'auth_type = any',
        'pool_mode = transaction',
        `default_pool_size = ${connections}`,
        // As the guide Deployment requires.
        'ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout',
        '',
      ].join('\n'),
    );
    await pooler.launch();
    return pooler;
  }

  /** Starts the process again. */
  async launch(): Promise<void> {
    // PgBouncer refuses to run as root.
    const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const started = spawn('pgbouncer', ['-q', join(this.#folder, 'pgbouncer.ini')], {
      stdio: 'ignore',
      ...user,
    });
    this.#process = started;
    await once(started, 'spawn');
    await vi.waitFor(async () => {
      const socket = connect(this.#port, '127.0.0.1');
      try {
        await once(socket, 'connect');
      } finally {
        socket.destroy();
      }
    });
  }

  /** Kills the process, which closes all its connections. */
  async kill(): Promise<void> {
    const ended = this.#process === undefined ? undefined : once(this.#process, 'exit');
    this.#process?.kill('SIGKILL');
    this.#process = undefined;
    await ended;
  }

  async remove(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
