import { readdir } from 'node:fs/promises';
import manifest from '../../package.json' with { type: 'json' };
import { here, ServerProcess } from '../bench/processes.ts';
import type { GatewayOptions } from '../faults/gateway-process.ts';

const startOptions = manifest.scripts.start.split(' ').filter((word) => word.startsWith('--'));

/** What a gateway takes of its machine while it rests. */
export interface Footprint {
  residentMb: number;
  openFiles: number;
}

/** A gateway that is started as an operator would, killed, and started again on the same data. */
export class Node {
  readonly #options: GatewayOptions;
  readonly #core: 'measured' | 'others';
  readonly #onCrash: (what: string) => void;
  #server: ServerProcess | undefined;
  /** Grows at every kill: who asked before and was cut off has nothing to complain about. */
  life = 0;
  kills = 0;

  constructor(options: GatewayOptions, core: 'measured' | 'others', onCrash: (what: string) => void) {
    this.#options = options;
    this.#core = core;
    this.#onCrash = onCrash;
  }

  /** Its address; undefined: it is not there at the moment. */
  get url(): string | undefined {
    return this.#server?.origin;
  }

  async start(): Promise<void> {
    const { dataDir, config, databaseUrl } = this.#options;
    const server = await ServerProcess.start({
      module: here('../../server/main.ts'),
      core: this.#core,
      nodeOptions: [...startOptions, '--expose-gc'],
      environment: {
        HOST: '127.0.0.1',
        PORT: '0',
        DATA_DIR: dataDir,
        CONFIG: config,
        DATABASE_URL: databaseUrl ?? '',
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
      if (this.#server === server) this.#onCrash(`a gateway that nobody killed ended with ${how}`);
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

  /** As an operator stops it. @throws Error when it does not end with 0. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.life += 1;
    this.#server = undefined;
    await server?.stop();
  }

  async footprint(): Promise<Footprint> {
    if (this.#server === undefined) throw new Error('a gateway that is not there takes nothing');
    return {
      residentMb: (await this.#server.residentBytes()) / 1e6,
      openFiles: (await readdir(`/proc/${this.#server.pid}/fd`)).length,
    };
  }
}
