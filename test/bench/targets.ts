import {
  noMemoryReducer,
  profileOptions,
  type RunningGateway,
  startGateway,
  startOptions,
} from './gateway.ts';
import { here, ServerProcess } from './processes.ts';

export const targetNames = ['direct', 'raw', 'gateway'] as const;
export type TargetName = (typeof targetNames)[number];

export interface TargetOptions {
  /** Module of the stub upstream, in this folder. */
  upstream: string;
  /** Module of the raw proxy, in this folder. */
  raw: string;
  /** Number of raw proxies and of gateways, used in turn. */
  processes: number;
  /** The gateway's main module. */
  server: string;
  /** Folder for CPU profiles of the gateways. */
  profile: string | undefined;
  /** Node options in addition to those of `npm start`. */
  nodeOptions?: readonly string[];
}

/** Startup time of a gateway on an empty data folder, and its memory when it listens. */
export interface GatewayStart {
  ms: number;
  residentMb: number;
}

/** The measured processes. There are several of each, because the compiler optimizes the same code differently. */
export class Targets {
  /** The upstream itself. */
  readonly stub: ServerProcess;
  readonly #raw: ServerProcess[] = [];
  readonly #gateways: RunningGateway[] = [];
  /** Startup figures of the gateways. */
  readonly starts: GatewayStart[] = [];

  private constructor(stub: ServerProcess) {
    this.stub = stub;
  }

  static async start({
    upstream,
    raw,
    processes,
    server,
    profile,
    nodeOptions = [],
  }: TargetOptions): Promise<Targets> {
    const targets = new Targets(await ServerProcess.start({ module: here(upstream), core: 'others' }));
    const { origin } = targets.stub;
    try {
      for (let index = 0; index < processes; index += 1) {
        targets.#raw.push(
          await ServerProcess.start({
            module: here(raw),
            core: 'measured',
            arguments: [origin],
            nodeOptions: [...startOptions, noMemoryReducer, ...nodeOptions],
          }),
        );
        const gateway = await startGateway(server, origin, [...profileOptions(profile), ...nodeOptions]);
        targets.#gateways.push(gateway);
        targets.starts.push({
          ms: gateway.server.startedMs,
          residentMb: (await gateway.server.residentBytes()) / 1e6,
        });
      }
      return targets;
    } catch (error) {
      await targets.remove();
      throw error;
    }
  }

  all(name: TargetName): readonly ServerProcess[] {
    if (name === 'direct') return [this.stub];
    return name === 'raw' ? this.#raw : this.#gateways.map(({ server }) => server);
  }

  /** Returns the number of the process to use in a round. */
  numberIn(name: TargetName, round: number): number {
    return round % this.all(name).length;
  }

  /** Returns the process to use in a round. */
  select(name: TargetName, round: number): ServerProcess {
    return this.all(name)[this.numberIn(name, round)] ?? this.stub;
  }

  /** Runs an action for each target in sequence. */
  async each<T>(action: (name: TargetName) => Promise<T>): Promise<Record<TargetName, T>> {
    const direct = await action('direct');
    const raw = await action('raw');
    const gateway = await action('gateway');
    return { direct, raw, gateway };
  }

  /**
   * Stops all processes and checks the ledgers of the gateways.
   *
   * @param expected returns the expected totals of a gateway
   * @param noun name of the counted responses
   * @throws Error if a ledger differs
   */
  async stop(
    expected: (server: ServerProcess) => { responses: number; charged: number },
    noun: string,
  ): Promise<void> {
    for (const { server, stop } of this.#gateways) {
      const totals = expected(server);
      await stop(totals);
      console.error(`the ledger is correct: ${totals.responses} ${noun}, each settled once`);
    }
    await Promise.all([this.stub, ...this.#raw].map((one) => one.stop()));
  }

  /** Removes the folders of the gateways in any case. */
  async remove(): Promise<void> {
    await Promise.all(this.#gateways.map((gateway) => gateway.remove()));
  }
}
