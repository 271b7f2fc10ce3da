import { readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { parseStat, tickMicroseconds } from './processor-time.ts';

/** Maximum CPU time that other processes may use during a comparison, per core and second. */
export const maxOtherLoad = 0.1;

interface CpuTimes {
  /** CPU time of all processes of the machine, in seconds. */
  machine: number;
  /** CPU time of this process and of its children that have ended, in seconds. */
  own: number;
  /** In seconds. */
  at: number;
}

/** Measures the CPU time of other processes. All children that it started must have ended before `perCore` is called. */
export class OtherLoad {
  readonly #before = readTimes();

  /** Returns the CPU time of other processes per core and second. Undefined if the system is not Linux. */
  perCore(): number | undefined {
    const after = readTimes();
    return this.#before === undefined || after === undefined
      ? undefined
      : otherLoad(this.#before, after, availableParallelism());
  }
}

export function otherLoad(before: CpuTimes, after: CpuTimes, cores: number): number {
  const others = after.machine - before.machine - (after.own - before.own);
  return Math.max(0, others / (after.at - before.at) / cores);
}

function readTimes(): CpuTimes | undefined {
  if (process.platform !== 'linux') return undefined;
  const ms = cpus().reduce((sum, { times: { user, nice, sys } }) => sum + user + nice + sys, 0);
  return {
    machine: ms / 1000,
    own: ownSeconds(readFileSync('/proc/self/stat', 'utf8')),
    at: performance.now() / 1000,
  };
}

/** Reads the CPU time of a process and of its ended children from `/proc/PID/stat`. */
export function ownSeconds(stat: string): number {
  const { user, system, childUser, childSystem } = parseStat(stat);
  return ((user + system + childUser + childSystem) * tickMicroseconds) / 1e6;
}
