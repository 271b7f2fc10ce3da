import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { cpuTime, eventLoopDelay, eventLoopUtilization, heapUsed, memoryUsage, uptime } from './metrics.ts';

/** Sampling interval of the event loop delay, which each sample includes. */
const resolutionMs = 10;

/** Starts to measure the process. Returns a function that stops it. */
export function measureProcess(): () => void {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  const delaySeconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - resolutionMs / 1e3);
  let previous = performance.eventLoopUtilization();
  const stops = [
    eventLoopDelay.p50.addCallback(() => [[delaySeconds(delays.percentile(50))]]),
    eventLoopDelay.p99.addCallback(() => [[delaySeconds(delays.percentile(99))]]),
    eventLoopDelay.max.addCallback(() => {
      const max = delaySeconds(delays.max);
      // This is the last of the three callbacks.
      delays.reset();
      return [[max]];
    }),
    eventLoopUtilization.addCallback(() => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, previous);
      previous = now;
      return [[utilization]];
    }),
    memoryUsage.addCallback(() => [[process.memoryUsage.rss()]]),
    heapUsed.addCallback(() => [[process.memoryUsage().heapUsed]]),
    cpuTime.addCallback(() => {
      const { user, system } = process.cpuUsage();
      return [
        [user / 1e6, { 'cpu.mode': 'user' }],
        [system / 1e6, { 'cpu.mode': 'system' }],
      ];
    }),
    uptime.addCallback(() => [[process.uptime()]]),
  ];
  return () => {
    for (const stop of stops) stop();
    delays.disable();
  };
}
