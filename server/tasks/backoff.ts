import type { TaskTiming } from './timing.ts';

/** The interval that follows one, in milliseconds. */
export function longer(interval: number, { growth, maxPollMs: longestPollMs }: TaskTiming): number {
  return Math.min(longestPollMs, Math.round(interval * growth));
}

/** How long to wait after so many failures in a row, in milliseconds. */
export function retryPause(
  failures: number,
  { firstPollMs, maxRetryMs: longestRetryMs }: TaskTiming,
): number {
  return Math.min(longestRetryMs, firstPollMs * 2 ** Math.min(failures - 1, 30));
}

/** Shortens a pause by up to a fifth, so that tasks made together are not polled together for ever. */
export function jittered(ms: number, random: () => number): number {
  return Math.round(ms * (1 - 0.2 * random()));
}
