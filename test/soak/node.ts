import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setTimeout as delay, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import manifest from '../../package.json' with { type: 'json' };
import { here, ServerProcess } from '../bench/processes.ts';
import type { GatewayOptions } from '../faults/gateway-process.ts';
import { countFiles, mergeOpenFiles, type OpenFiles, readOpenFiles } from './open-files.ts';

const startOptions = manifest.scripts.start.split(' ').filter((word) => word.startsWith('--'));

/** Memory and open files of an idle gateway. */
export interface Footprint {
  residentMb: number;
  openFiles: OpenFiles;
  /** Number of connections except those to the database. */
  otherConnections: number;
}

export interface GatewayNodeOptions {
  options: GatewayOptions;
  core: 'measured' | 'others';
  /** Number of worker processes. */
  workers: number;
  onCrash: (description: string) => void;
}

/** A gateway process that can be killed and restarted on the same data. */
export class GatewayNode {
  readonly #options: GatewayNodeOptions;
  /** Application name of its PostgreSQL connections. */
  readonly applicationName = `soak_${randomUUID()}`;
  #server: ServerProcess | undefined;
  #isKillingWorker = false;
  /** Increments at every kill. A request of an earlier generation may be interrupted. */
  generation = 0;
  kills = 0;

  constructor(parts: GatewayNodeOptions) {
    this.#options = parts;
  }

  /** Its URL. Undefined while it or one of its workers is restarting. */
  get url(): string | undefined {
    return this.#isKillingWorker ? undefined : this.#server?.origin;
  }

  async start(): Promise<void> {
    const { options, core, workers, onCrash } = this.#options;
    const { dataDir, config, databaseUrl } = options;
    const database = databaseUrl === undefined ? undefined : new URL(databaseUrl);
    database?.searchParams.set('application_name', this.applicationName);
    const server = await ServerProcess.start({
      module: here('../../server/main.ts'),
      core,
      nodeOptions: [...startOptions, '--expose-gc'],
      environment: {
        HOST: '127.0.0.1',
        PORT: '0',
        DATA_DIR: dataDir,
        CONFIG: config,
        DATABASE_URL: database?.href ?? '',
        WORKERS: String(workers),
        BOOTSTRAP_KEY: '',
        LOG_LEVEL: 'error',
        PUBLIC_URL: '',
        TLS_CERT: '',
        TLS_KEY: '',
        METRICS_PORT: '',
        OTEL_EXPORTER_OTLP_ENDPOINT: '',
      },
    });
    this.#server = server;
    void server.ended.then((exit) => {
      if (this.#server === server) onCrash(`a gateway ended unexpectedly with ${exit}`);
    });
  }

  async killAndRestart(): Promise<void> {
    const server = this.#server;
    this.generation += 1;
    this.kills += 1;
    this.#server = undefined;
    await server?.kill();
    await this.start();
  }

  /** Kills a worker, which the gateway replaces. `fraction` in [0, 1) selects it. */
  async killWorker(fraction: number): Promise<void> {
    const workers = (await this.#server?.workers()) ?? [];
    const pid = workers[Math.floor(fraction * workers.length)];
    if (pid === undefined) return;
    this.generation += 1;
    this.kills += 1;
    // The kernel assigns connections to the worker until it has exited, some time after the signal.
    this.#isKillingWorker = true;
    process.kill(pid, 'SIGKILL');
    while (existsSync(`/proc/${pid}`)) await delay(10);
    // Lets this process receive the end of its connections.
    await yieldToEventLoop();
    this.#isKillingWorker = false;
  }

  /** Reloads the configuration. */
  reload(): void {
    const pid = this.#server?.pid;
    if (pid !== undefined) process.kill(pid, 'SIGHUP');
  }

  /** Stops it gracefully. @throws Error if the exit code is not 0 */
  async stop(): Promise<void> {
    const server = this.#server;
    this.generation += 1;
    this.#server = undefined;
    await server?.stop();
  }

  async footprint(): Promise<Footprint> {
    const server = this.#server;
    if (server?.pid === undefined) throw new Error('the gateway is not running');
    const openFiles = mergeOpenFiles(
      await Promise.all([server.pid, ...(await server.workers())].map((pid) => readOpenFiles(pid))),
    );
    const { databaseUrl } = this.#options.options;
    const database =
      databaseUrl === undefined ? '' : `connection to port ${new URL(databaseUrl).port || 5432}`;
    return {
      residentMb: (await server.residentBytes()) / 1e6,
      openFiles,
      otherConnections: countFiles(
        openFiles,
        (kind) => kind.startsWith('connection to') && kind !== database,
      ),
    };
  }
}
