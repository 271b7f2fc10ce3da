import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { cpuTime, eventLoopDelay, eventLoopUtilization, heapUsed, memoryUsage, uptime } from './metrics.ts';

/** Milliseconds between two looks at the event loop; what is no later than that is no delay. */
const resolution = 10;

/** Has the process measured from now on, until the function that it gives is called. */
export function watchProcess(): () => void {
  const delays = monitorEventLoopDelay({ resolution });
  delays.enable();
  const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - resolution / 1e3);
  let busy = performance.eventLoopUtilization();
  const stops = [
    eventLoopDelay.p50.watch(() => [[late(delays.percentile(50))]]),
    eventLoopDelay.p99.watch(() => [[late(delays.percentile(99))]]),
    eventLoopDelay.max.watch(() => {
      const latest = late(delays.max);
      // The last of the three to be asked.
      delays.reset();
      return [[latest]];
    }),
    eventLoopUtilization.watch(() => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, busy);
      busy = now;
      return [[utilization]];
    }),
    memoryUsage.watch(() => [[process.memoryUsage.rss()]]),
    heapUsed.watch(() => [[process.memoryUsage().heapUsed]]),
    cpuTime.watch(() => {
      const { user, system } = process.cpuUsage();
      return [
        [user / 1e6, { 'cpu.mode': 'user' }],
        [system / 1e6, { 'cpu.mode': 'system' }],
      ];
    }),
    uptime.watch(() => [[process.uptime()]]),
  ];
  return () => {
    for (const stop of stops) stop();
    delays.disable();
  };
}
