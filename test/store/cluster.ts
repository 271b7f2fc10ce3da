import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { onServer } from './engines.ts';

/** Folder of PostgreSQL's server programs. Undefined if it is not installed. */
export const serverPrograms: string | undefined = [fromConfig(), ...fromPackages()].find(
  (folder) => folder !== undefined && existsSync(join(folder, 'initdb')),
);

function fromConfig(): string | undefined {
  try {
    return execFileSync('pg_config', ['--bindir'], { stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  } catch {
    return undefined;
  }
}

function fromPackages(): string[] {
  const root = '/usr/lib/postgresql';
  return existsSync(root) ? readdirSync(root).map((version) => join(root, version, 'bin')) : [];
}

/** How the server stops: `fast` closes every connection, `immediate` also skips the shutdown checkpoint. */
const endings = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const;

/** A separate PostgreSQL server, which a test can stop and start again. */
export class Cluster {
  readonly url: string;
  readonly #folder: string;
  readonly #port: number;
  #server: ChildProcess | undefined;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  }

  /** `parent`: folder in which its data folder is created. */
  static async start(parent = tmpdir()): Promise<Cluster> {
    const folder = mkdtempSync(join(parent, 'unigate-postgres-'));
    if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
    const cluster = new Cluster(folder, await freePort());
    const init = ['-D', folder, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
    await once(run('initdb', init), 'exit');
    await cluster.#launch();
    return cluster;
  }

  /** Closes every connection except its own. */
  async terminateBackends(): Promise<void> {
    const others = "pid <> pg_backend_pid() and backend_type = 'client backend'";
    await onServer(
      (client) => client.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${others}`),
      this.url,
    );
  }

  /** Stops the server and starts it again. It accepts no connection in between. */
  async restart(how: keyof typeof endings, meanwhile: () => Promise<void> = async () => {}): Promise<void> {
    await this.#end(how);
    await meanwhile();
    await this.#launch();
  }

  /** Restarts the server as a standby. */
  demote(): Promise<void> {
    return this.restart('fast', async () => writeFileSync(join(this.#folder, 'standby.signal'), ''));
  }

  async remove(): Promise<void> {
    await this.#end('immediate');
    rmSync(this.#folder, { recursive: true });
  }

  async #launch(): Promise<void> {
    const settings = {
      listen_addresses: '127.0.0.1',
      port: String(this.#port),
      unix_socket_directories: '',
      // Only the server crashes, never the machine.
      fsync: 'off',
      shared_buffers: '16MB',
      log_min_messages: 'panic',
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    this.#server = run('postgres', ['-D', this.#folder, ...options]);
    await vi.waitFor(() => onServer((client) => client.query('select 1'), this.url), {
      timeout: 60_000,
      interval: 20,
    });
  }

  async #end(how: keyof typeof endings): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const ended = once(server, 'exit');
    server.kill(endings[how]);
    await ended;
  }
}

/** PostgreSQL refuses to run as root. */
const owner = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : undefined;

function idOf(which: '-u' | '-g'): number {
  return Number(execFileSync('id', [which, 'postgres']).toString());
}

function run(program: string, args: string[]): ChildProcess {
  return spawn(join(serverPrograms ?? '', program), args, { stdio: 'ignore', cwd: tmpdir(), ...owner });
}
