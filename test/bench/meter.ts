import cluster, { type Worker } from 'node:cluster';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Preloaded into every measured process: answers what it used so far, and how long its event loop stood still. */

export type Question = 'cpu' | 'turn' | 'memory';

/** User and system, in microseconds, since the process began. */
export interface CpuUsed {
  cpuMicroseconds: number;
  /** Of the main thread alone. */
  mainMicroseconds: number;
}

/** Of the main thread, in milliseconds. */
export interface LongestTurn {
  /** As others waited. */
  delayMs: number;
  /** What the thread itself worked in one turn: on a busy machine it waits for the core as well. */
  cpuMs: number;
}

const resolution = 1;
const delays = monitorEventLoopDelay({ resolution });
let watching = false;
let maxCpu = 0;

function watch(): void {
  watching = true;
  delays.enable();
  let last = process.threadCpuUsage();
  setInterval(() => {
    const now = process.threadCpuUsage();
    maxCpu = Math.max(maxCpu, now.user + now.system - last.user - last.system);
    last = now;
  }, resolution).unref();
}

/** After a full collection, where the process was started with --expose-gc. */
function resident(): { residentBytes: number } {
  globalThis.gc?.();
  return { residentBytes: process.memoryUsage.rss() };
}

/** What a worker of this process holds; nothing when it ends meanwhile. */
function residentOf(worker: Worker): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const heard = (answer: unknown) => {
    if (typeof answer === 'object' && answer !== null && 'residentBytes' in answer)
      resolve(Number(answer.residentBytes));
  };
  const gone = () => resolve(0);
  worker
    .on('message', heard)
    .on('exit', gone)
    .send('memory' satisfies Question);
  return promise.finally(() => worker.off('message', heard).off('exit', gone));
}

/** What this process and its workers hold. */
async function withWorkers(): Promise<{ residentBytes: number }> {
  const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
  const theirs = await Promise.all(workers.map(residentOf));
  return { residentBytes: theirs.reduce((sum, one) => sum + one, resident().residentBytes) };
}

// A worker's channel is its primary's, which asks it for the benchmark.
if (cluster.isWorker) {
  process.on('message', (question) => {
    if (question === 'memory') process.send?.(resident());
  });
} else {
  process.on('message', (question: Question) => {
    if (question === 'cpu') {
      const { user, system } = process.cpuUsage();
      const main = process.threadCpuUsage();
      const used: CpuUsed = { cpuMicroseconds: user + system, mainMicroseconds: main.user + main.system };
      process.send?.(used);
      return;
    }
    if (question === 'memory') {
      void withWorkers().then((all) => process.send?.(all));
      return;
    }
    if (!watching) watch();
    const turn: LongestTurn = { delayMs: Math.max(0, delays.max / 1e6 - resolution), cpuMs: maxCpu / 1000 };
    delays.reset();
    maxCpu = 0;
    process.send?.(turn);
  });
  process.on('disconnect', () => process.exit(1));
  // It must not keep the process alive.
  process.channel?.unref();
}
