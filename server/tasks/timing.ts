/** How long everything about tasks takes, in milliseconds. */
export interface TaskTiming {
  /** Between the first polls of a task. */
  firstPollMs: number;
  /** Between its later polls. */
  maxPollMs: number;
  /** Each interval is so many times the one before. */
  growth: number;
  /** Longest pause after polls that failed. */
  maxRetryMs: number;
  /** Longest pause before a poll for whatever reason, one that an upstream asked for. */
  maxPauseMs: number;
  /** One poll or cancellation. */
  pollLimitMs: number;
  /** Submitting to all channels together. */
  submitLimitMs: number;
  /** A lease outlives the work it is for by this. */
  leaseMarginMs: number;
  /** A repeated order looks so often what has become of the first. */
  repeatLookMs: number;
  /** A read asks the upstream when the latest poll is older than this. */
  readFreshMs: number;
  /** A read waits so long for that at the most. */
  readWaitMs: number;
  /** A task has so long to become final, unless it says otherwise. */
  lifetimeMs: number;
  /** A result is available so long, unless its driver says otherwise. */
  resultMs: number;
  /** Records of final tasks are kept so long. */
  keepMs: number;
  /** Least time between two claims: what becomes due meanwhile shares one. */
  claimGapMs: number;
  /** Most time between two claims, for what other processes add. */
  idleMs: number;
  housekeepingMs: number;
}

const minute = 60_000;
const day = 24 * 60 * minute;

export const standardTiming: TaskTiming = {
  firstPollMs: 1_000,
  maxPollMs: 15_000,
  growth: 1.5,
  maxRetryMs: minute,
  maxPauseMs: 5 * minute,
  pollLimitMs: 15_000,
  submitLimitMs: 2 * minute,
  leaseMarginMs: 15_000,
  repeatLookMs: 250,
  readFreshMs: 2_000,
  readWaitMs: 1_000,
  lifetimeMs: day,
  resultMs: day,
  keepMs: 7 * day,
  claimGapMs: 50,
  idleMs: 1_000,
  housekeepingMs: minute,
};

/** The interval that follows one, in milliseconds. */
export function longer(interval: number, { growth, maxPollMs }: TaskTiming): number {
  return Math.min(maxPollMs, Math.round(interval * growth));
}

/** How long to wait after so many failures in a row, in milliseconds. */
export function retryPause(failures: number, { firstPollMs, maxRetryMs }: TaskTiming): number {
  return Math.min(maxRetryMs, firstPollMs * 2 ** Math.min(failures - 1, 30));
}

/** Shortens a pause by up to a fifth, so that tasks made together are not polled together for ever. */
export function jittered(ms: number, random: () => number): number {
  return Math.round(ms * (1 - 0.2 * random()));
}
