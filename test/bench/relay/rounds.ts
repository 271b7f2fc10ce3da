import { setTimeout as pause } from 'node:timers/promises';
import type { LoadProcess, ServerProcess } from '../processes.ts';
import type { TargetName, Targets } from '../targets.ts';
import type { RelayRequest, RelayState } from './load.ts';
import type { RelayMode } from './plan.ts';

/** What one round measured. */
export interface RelayMeasurement {
  framesPerSecond: number;
  /** CPU of the process under test per audio frame. */
  cpuMicroseconds: number;
  /** Share of their time that the load tool and the stub were busy: near 1, they were the limit. */
  othersBusy: number;
  /** Of each frame, from the upstream's send to the client; in paced mode only. */
  delaysMs: readonly number[];
}

/** A number of sessions in one mode, and what its rounds measured. */
export interface RelayCell {
  readonly mode: RelayMode;
  readonly sessions: number;
  readonly rounds: Readonly<Record<TargetName, RelayMeasurement[]>>;
}

const warmUpSeconds = { direct: 0.5, raw: 1.2, gateway: 1.2 };
const warmUpSessions = 100;
/** From the first audio of the last session to the first look. */
const settleMs = 100;

/** Measures sessions on the three targets, and keeps count of what each process relayed. */
export class RelayRounds {
  readonly #booked = new Map<ServerProcess, { answers: number; charged: number }>();
  readonly #targets: Targets;
  readonly #load: LoadProcess<RelayRequest, RelayState>;

  constructor(targets: Targets, load: LoadProcess<RelayRequest, RelayState>) {
    this.#targets = targets;
    this.#load = load;
  }

  /** Sessions that ended with a process, and the characters that were spoken in them. */
  bookedOf(server: ServerProcess): { answers: number; charged: number } {
    return this.#booked.get(server) ?? { answers: 0, charged: 0 };
  }

  async warmUp(): Promise<void> {
    await this.#targets.each(async (name) => {
      for (const server of this.#targets.all(name)) {
        await this.#round(server, 'full speed', warmUpSessions, warmUpSeconds[name]);
      }
    });
  }

  /** Measures a cell once more on all targets; the processes of a target take turns. */
  async measure({ mode, sessions, rounds }: RelayCell, seconds: number): Promise<void> {
    await this.#targets.each(async (name) => {
      const server = this.#targets.inTurn(name, rounds[name].length);
      rounds[name].push(await this.#round(server, mode, sessions, seconds));
    });
  }

  async #round(
    server: ServerProcess,
    mode: RelayMode,
    sessions: number,
    seconds: number,
  ): Promise<RelayMeasurement> {
    try {
      await this.#load.run({ step: 'open', port: server.port, mode, sessions });
      await pause(settleMs);
      const before = await this.#look(server);
      await pause(seconds * 1000);
      const after = await this.#look(server);
      const { characters } = await this.#load.run({ step: 'finish' });
      const { answers, charged } = this.bookedOf(server);
      this.#booked.set(server, { answers: answers + sessions, charged: charged + characters });
      const took = (after.load.at - before.load.at) / 1000;
      const frames = after.load.frames - before.load.frames;
      const others = after.stub - before.stub + (after.load.cpuMicroseconds - before.load.cpuMicroseconds);
      return {
        framesPerSecond: frames / took,
        cpuMicroseconds: (after.server - before.server) / frames,
        othersBusy: others / (took * 1e6),
        delaysMs: after.load.delaysMs,
      };
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`${sessions} sessions, ${mode}, at ${server.origin}: ${message}`, { cause });
    }
  }

  async #look(server: ServerProcess): Promise<{ server: number; stub: number; load: RelayState }> {
    return {
      server: await server.cpuMicroseconds(),
      stub: await this.#targets.stub.cpuMicroseconds(),
      load: await this.#load.run({ step: 'look' }),
    };
  }
}
