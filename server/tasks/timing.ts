/** Intervals and time limits of tasks, in milliseconds. */
export interface TaskTiming {
  /** First poll interval of a task. */
  firstPollMs: number;
  /** Longest poll interval. */
  maxPollMs: number;
  /** Factor from one poll interval to the next. */
  growth: number;
  /** Longest pause after failed polls. */
  maxRetryMs: number;
  /** Longest pause before a poll for any reason, such as a `retry-after`. */
  maxPauseMs: number;
  /** Limit of one poll or cancellation. */
  pollLimitMs: number;
  /** Limit of a submission to all channels together. */
  submitLimitMs: number;
  /** A claim lasts this much longer than the limit of its work. */
  claimMarginMs: number;
  /** Interval at which a repeated request polls the state of the first one. */
  repeatPollMs: number;
  /** A read polls the upstream when the last poll is older than this. */
  readFreshMs: number;
  /** Longest wait of a read for that poll. */
  readWaitMs: number;
  /** Default time in which a task must become final. */
  lifetimeMs: number;
  /** Default availability of a result. */
  resultMs: number;
  /** Retention of final tasks. */
  keepMs: number;
  /** Least time between two claims. Tasks that become due in between share one. */
  claimGapMs: number;
  /** Longest time between two claims, for tasks of other processes. */
  idleMs: number;
  housekeepingMs: number;
}

const minute = 60_000;
const day = 24 * 60 * minute;

export const defaultTiming: TaskTiming = {
  firstPollMs: 1_000,
  maxPollMs: 15_000,
  growth: 1.5,
  maxRetryMs: minute,
  maxPauseMs: 5 * minute,
  pollLimitMs: 15_000,
  submitLimitMs: 2 * minute,
  claimMarginMs: 15_000,
  repeatPollMs: 250,
  readFreshMs: 2_000,
  readWaitMs: 1_000,
  lifetimeMs: day,
  resultMs: day,
  keepMs: 7 * day,
  claimGapMs: 50,
  idleMs: 1_000,
  housekeepingMs: minute,
};

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
