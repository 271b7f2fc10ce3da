import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setImmediate as immediate, setTimeout as pause } from 'node:timers/promises';
import manifest from '../../package.json' with { type: 'json' };
import { here, ServerProcess } from '../bench/processes.ts';
import type { GatewayOptions } from '../faults/gateway-process.ts';
import { countOf, type OpenFiles, openFilesOf, together } from './open-files.ts';

const startOptions = manifest.scripts.start.split(' ').filter((word) => word.startsWith('--'));

/** What a gateway takes of its machine while it rests. */
export interface Footprint {
  residentMb: number;
  openFiles: OpenFiles;
  /** How many of them are connections to others than the database. */
  outside: number;
}

export interface NodeParts {
  options: GatewayOptions;
  core: 'measured' | 'others';
  /** Processes that share its work. */
  workers: number;
  onCrash: (what: string) => void;
}

/** A gateway that is started as an operator would, killed, and started again on the same data. */
export class Node {
  readonly #parts: NodeParts;
  /** How its connections to PostgreSQL are called. */
  readonly session = `soak_${randomUUID()}`;
  #server: ServerProcess | undefined;
  #killing = false;
  /** Grows at every kill: who asked before and was cut off has nothing to complain about. */
  life = 0;
  kills = 0;

  constructor(parts: NodeParts) {
    this.#parts = parts;
  }

  /** Its address; undefined: it, or one of its workers, is not there at the moment. */
  get url(): string | undefined {
    return this.#killing ? undefined : this.#server?.origin;
  }

  async start(): Promise<void> {
    const { options, core, workers, onCrash } = this.#parts;
    const { dataDir, config, databaseUrl } = options;
    const database = databaseUrl === undefined ? undefined : new URL(databaseUrl);
    database?.searchParams.set('application_name', this.session);
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
    void server.ended.then((how) => {
      if (this.#server === server) onCrash(`a gateway that nobody killed ended with ${how}`);
    });
  }

  async killAndStart(): Promise<void> {
    const server = this.#server;
    this.life += 1;
    this.kills += 1;
    this.#server = undefined;
    await server?.kill();
    await this.start();
  }

  /** One of its workers, which it replaces; `chosen` is from 0 up to 1. */
  async killWorker(chosen: number): Promise<void> {
    const workers = (await this.#server?.workers()) ?? [];
    const pid = workers[Math.floor(chosen * workers.length)];
    if (pid === undefined) return;
    this.life += 1;
    this.kills += 1;
    // The system sends it connections until it has ended, which is some time after the signal.
    this.#killing = true;
    process.kill(pid, 'SIGKILL');
    while (existsSync(`/proc/${pid}`)) await pause(10);
    // By then this process has read that its connections are gone.
    await immediate();
    this.#killing = false;
  }

  /** Has it read its configuration again. */
  reload(): void {
    const pid = this.#server?.pid;
    if (pid !== undefined) process.kill(pid, 'SIGHUP');
  }

  /** As an operator stops it. @throws Error when it does not end with 0. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.life += 1;
    this.#server = undefined;
    await server?.stop();
  }

  async footprint(): Promise<Footprint> {
    const server = this.#server;
    if (server?.pid === undefined) throw new Error('a gateway that is not there takes nothing');
    const openFiles = together(
      await Promise.all([server.pid, ...(await server.workers())].map((pid) => openFilesOf(pid))),
    );
    const { databaseUrl } = this.#parts.options;
    const database =
      databaseUrl === undefined ? '' : `connection to port ${new URL(databaseUrl).port || 5432}`;
    return {
      residentMb: (await server.residentBytes()) / 1e6,
      openFiles,
      outside: countOf(openFiles, (kind) => kind.startsWith('connection to') && kind !== database),
    };
  }
}
