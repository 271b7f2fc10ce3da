import cluster, { type Worker } from 'node:cluster';
import { monitorEventLoopDelay } from 'node:perf_hooks';

// Preloaded into every measured process. Reports its CPU usage, memory and longest event loop turn on request.

export type MeterQuery = 'cpu' | 'turn' | 'memory';

/** User and system CPU time since the start of the process. */
export interface CpuUsed {
  cpuMicroseconds: number;
  /** Of the main thread. */
  mainMicroseconds: number;
}

/** Longest turn of the event loop of the main thread. */
export interface LongestTurn {
  /** Wall-clock time. */
  delayMs: number;
  /** CPU time of the thread. On a busy machine, the thread also waits for a core. */
  cpuMs: number;
}

const resolution = 1;
const delays = monitorEventLoopDelay({ resolution });
let isWatching = false;
let maxCpu = 0;

function watch(): void {
  isWatching = true;
  delays.enable();
  let last = process.threadCpuUsage();
  setInterval(() => {
    const now = process.threadCpuUsage();
    maxCpu = Math.max(maxCpu, now.user + now.system - last.user - last.system);
    last = now;
  }, resolution).unref();
}

/** Returns the resident memory, after a full garbage collection if the process has --expose-gc. */
function resident(): { residentBytes: number } {
  globalThis.gc?.();
  return { residentBytes: process.memoryUsage.rss() };
}

/** Returns the resident memory of a worker, or 0 if it exits. */
function residentOf(worker: Worker): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const onMessage = (message: unknown) => {
    if (typeof message === 'object' && message !== null && 'residentBytes' in message)
      resolve(Number(message.residentBytes));
  };
  const onExit = () => resolve(0);
  worker
    .on('message', onMessage)
    .on('exit', onExit)
    .send('memory' satisfies MeterQuery);
  return promise.finally(() => worker.off('message', onMessage).off('exit', onExit));
}

/** Returns the resident memory of this process and its workers. */
async function residentTotal(): Promise<{ residentBytes: number }> {
  const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
  const workerBytes = await Promise.all(workers.map(residentOf));
  return { residentBytes: workerBytes.reduce((sum, one) => sum + one, resident().residentBytes) };
}

// The primary forwards queries to its workers.
if (cluster.isWorker) {
  process.on('message', (query) => {
    if (query === 'memory') process.send?.(resident());
  });
} else {
  process.on('message', (query: MeterQuery) => {
    if (query === 'cpu') {
      const { user, system } = process.cpuUsage();
      const main = process.threadCpuUsage();
      const used: CpuUsed = { cpuMicroseconds: user + system, mainMicroseconds: main.user + main.system };
      process.send?.(used);
      return;
    }
    if (query === 'memory') {
      void residentTotal().then((all) => process.send?.(all));
      return;
    }
    if (!isWatching) watch();
    const turn: LongestTurn = { delayMs: Math.max(0, delays.max / 1e6 - resolution), cpuMs: maxCpu / 1000 };
    delays.reset();
    maxCpu = 0;
    process.send?.(turn);
  });
  process.on('disconnect', () => process.exit(1));
  // The channel must not keep the process alive.
  process.channel?.unref();
}
