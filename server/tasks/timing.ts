const minute = 60_000;
const day = 24 * 60 * minute;

/** Intervals and time limits of tasks, in milliseconds. */
export const defaultTiming = {
  /** First poll interval of a task. */
  firstPollMs: 1_000,
  /** Longest poll interval. */
  maxPollMs: 15_000,
  /** Factor from one poll interval to the next. */
  growth: 1.5,
  /** Longest pause after failed polls. */
  maxRetryMs: minute,
  /** Longest pause before a poll for any reason, such as a `retry-after`. */
  maxPauseMs: 5 * minute,
  /** Limit of one poll or cancellation. */
  pollLimitMs: 15_000,
  /** Limit of a submission to all channels together. */
  submitLimitMs: 2 * minute,
  /** A claim lasts this much longer than the limit of its work. */
  claimMarginMs: 15_000,
  /** Pause of a task in the queue after all its channels refused it. */
  queueRetryMs: 2_000,
  /** Interval at which a repeated request polls the state of the first one. */
  repeatPollMs: 250,
  /** A read polls the upstream when the last poll is older than this. */
  readFreshMs: 2_000,
  /** Longest wait of a read for that poll. */
  readWaitMs: 1_000,
  /** Default time in which a task must become final. */
  lifetimeMs: day,
  /** Default availability of a result. */
  resultMs: day,
  /** Retention of final tasks. */
  keepMs: 7 * day,
  /** Least time between two claims. Tasks that become due in between share one. */
  claimGapMs: 50,
  /** Longest time between two claims, for tasks of other processes. */
  idleMs: 1_000,
  housekeepingMs: minute,
};

export type TaskTiming = typeof defaultTiming;

/** Returns the next poll interval, in milliseconds. */
export function nextPollInterval(interval: number, { growth, maxPollMs }: TaskTiming): number {
  return Math.min(maxPollMs, Math.round(interval * growth));
}

/** Returns the pause after a number of failed polls in a row, in milliseconds. */
export function retryPause(failures: number, { firstPollMs, maxRetryMs }: TaskTiming): number {
  return Math.min(maxRetryMs, firstPollMs * 2 ** Math.min(failures - 1, 30));
}

/** Shortens a pause by up to a fifth, so that tasks created together are not always polled together. */
export function jittered(ms: number, random: () => number): number {
  return Math.round(ms * (1 - 0.2 * random()));
}
