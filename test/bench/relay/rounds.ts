import { setTimeout as delay } from 'node:timers/promises';
import type { LoadProcess, ServerProcess } from '../processes.ts';
import type { TargetName, Targets } from '../targets.ts';
import type { RelayRequest, RelayState } from './load.ts';
import type { RelayMode } from './plan.ts';

/** Results of one round. */
export interface RelayMeasurement {
  framesPerSecond: number;
  /** CPU time of the process under test per audio frame. */
  cpuMicroseconds: number;
  /** Utilization of the load tool and the stub. Near 1, they were the bottleneck. */
  othersBusy: number;
  /** Delay of each frame from the upstream to the client. Empty at full speed. */
  delaysMs: readonly number[];
}

/** Results of one mode and number of sessions. */
export interface RelayCell {
  readonly mode: RelayMode;
  readonly sessions: number;
  readonly rounds: Readonly<Record<TargetName, RelayMeasurement[]>>;
}

const warmUpSeconds = { direct: 0.5, raw: 1.2, gateway: 1.2 };
const warmUpSessions = 100;
/** Default delay between the first audio of the last session and the measurement. */
const defaultSettleMs = 100;

/** Measures sessions on the three targets, and counts the sessions and characters of each process. */
export class RelayRounds {
  readonly #totals = new Map<ServerProcess, { responses: number; charged: number }>();
  readonly #targets: Targets;
  readonly #load: LoadProcess<RelayRequest, RelayState>;

  constructor(targets: Targets, load: LoadProcess<RelayRequest, RelayState>) {
    this.#targets = targets;
    this.#load = load;
  }

  /** Returns the number of sessions of a process, and the characters spoken in them. */
  totalsOf(server: ServerProcess): { responses: number; charged: number } {
    return this.#totals.get(server) ?? { responses: 0, charged: 0 };
  }

  async warmUp(): Promise<void> {
    await this.#targets.each(async (name) => {
      for (const server of this.#targets.all(name)) {
        await this.#round(server, 'full speed', warmUpSessions, warmUpSeconds[name]);
      }
    });
  }

  /** Measures a cell on all targets, with the next process of each. */
  async measure(
    { mode, sessions, rounds }: RelayCell,
    seconds: number,
    settleMs = defaultSettleMs,
  ): Promise<void> {
    await this.#targets.each(async (name) => {
      const server = this.#targets.select(name, rounds[name].length);
      rounds[name].push(await this.#round(server, mode, sessions, seconds, settleMs));
    });
  }

  async #round(
    server: ServerProcess,
    mode: RelayMode,
    sessions: number,
    seconds: number,
    settleMs = defaultSettleMs,
  ): Promise<RelayMeasurement> {
    try {
      await this.#load.run({ step: 'open', port: server.port, mode, sessions });
      await delay(settleMs);
      const before = await this.#readState(server);
      await delay(seconds * 1000);
      const after = await this.#readState(server);
      await this.#finish(server, sessions);
      const elapsedSeconds = (after.load.at - before.load.at) / 1000;
      const frames = after.load.frames - before.load.frames;
      const others = after.stub - before.stub + (after.load.cpuMicroseconds - before.load.cpuMicroseconds);
      return {
        framesPerSecond: frames / elapsedSeconds,
        cpuMicroseconds: (after.server - before.server) / frames,
        othersBusy: others / (elapsedSeconds * 1e6),
        delaysMs: after.load.delaysMs,
      };
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`${sessions} sessions, ${mode}, at ${server.origin}: ${message}`, { cause });
    }
  }

  /** Returns the resident memory of a process after a full collection, in bytes per silent open session. */
  async residentBytesPerSession(server: ServerProcess, sessions: number): Promise<number> {
    // The first sessions compile the code.
    await this.#openSilent(server, warmUpSessions);
    await this.#speakAndFinish(server, warmUpSessions);
    const before = await server.residentBytes();
    await this.#openSilent(server, sessions);
    const after = await server.residentBytes();
    await this.#speakAndFinish(server, sessions);
    return (after - before) / sessions;
  }

  async #openSilent(server: ServerProcess, sessions: number): Promise<void> {
    await this.#load.run({
      step: 'open',
      port: server.port,
      mode: 'conversation',
      sessions,
      isSilent: true,
    });
  }

  /** Ends silent sessions. Each has spoken, so that the ledger has an entry for it. */
  async #speakAndFinish(server: ServerProcess, sessions: number): Promise<void> {
    await this.#load.run({ step: 'speak' });
    await this.#finish(server, sessions);
  }

  async #finish(server: ServerProcess, sessions: number): Promise<void> {
    const { characters } = await this.#load.run({ step: 'finish' });
    const { responses, charged } = this.totalsOf(server);
    this.#totals.set(server, { responses: responses + sessions, charged: charged + characters });
  }

  async #readState(server: ServerProcess): Promise<{ server: number; stub: number; load: RelayState }> {
    return {
      server: await server.cpuMicroseconds(),
      stub: await this.#targets.stub.cpuMicroseconds(),
      load: await this.#load.run({ step: 'state' }),
    };
  }
}
