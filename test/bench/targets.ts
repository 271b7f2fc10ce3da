import { type RunningGateway, startGateway } from './gateway.ts';
import { here, ServerProcess } from './processes.ts';

export const targetNames = ['direct', 'raw', 'gateway'] as const;
export type TargetName = (typeof targetNames)[number];

export interface TargetOptions {
  /** Module of the stub upstream, in this folder. */
  upstream: string;
  /** Module of the proxy that the gateway is held against, in this folder. */
  raw: string;
  /** How many raw proxies, and gateways, take turns. */
  processes: number;
  /** The gateway's main module. */
  server: string;
  /** Where the gateways leave CPU profiles. */
  profile: string | undefined;
}

/** From the start of a gateway on an empty data folder until it listens, and the memory that it has then. */
export interface GatewayStart {
  ms: number;
  residentMb: number;
}

/** The processes that are measured: what the compiler makes of the same code differs from one to the next. */
export class Targets {
  /** The upstream itself. */
  readonly stub: ServerProcess;
  readonly #raw: ServerProcess[] = [];
  readonly #gateways: RunningGateway[] = [];
  /** How the gateways started. */
  readonly starts: GatewayStart[] = [];

  private constructor(stub: ServerProcess) {
    this.stub = stub;
  }

  static async start({ upstream, raw, processes, server, profile }: TargetOptions): Promise<Targets> {
    const targets = new Targets(await ServerProcess.start({ module: here(upstream), core: 'others' }));
    const { origin } = targets.stub;
    try {
      for (let index = 0; index < processes; index += 1) {
        targets.#raw.push(
          await ServerProcess.start({ module: here(raw), core: 'measured', arguments: [origin] }),
        );
        const gateway = await startGateway(server, origin, profile);
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

  /** Whose turn it is in a round. */
  inTurn(name: TargetName, round: number): ServerProcess {
    const servers = this.all(name);
    return servers[round % servers.length] ?? this.stub;
  }

  /** Does the same with one target after the other. */
  async each<T>(work: (name: TargetName) => Promise<T>): Promise<Record<TargetName, T>> {
    const direct = await work('direct');
    const raw = await work('raw');
    const gateway = await work('gateway');
    return { direct, raw, gateway };
  }

  /**
   * Ends all processes and checks the books of the gateways.
   *
   * @param expected what a gateway must have booked
   * @param noun of what it gave
   * @throws Error saying what is wrong with the books.
   */
  async stop(
    expected: (server: ServerProcess) => { answers: number; charged: number },
    noun: string,
  ): Promise<void> {
    for (const { server, stop } of this.#gateways) {
      const booked = expected(server);
      await stop(booked);
      console.error(`the books are right: ${booked.answers} ${noun}, each settled once`);
    }
    await Promise.all([this.stub, ...this.#raw].map((one) => one.stop()));
  }

  /** Removes the gateways' folders, whatever happened. */
  async remove(): Promise<void> {
    await Promise.all(this.#gateways.map((gateway) => gateway.remove()));
  }
}
