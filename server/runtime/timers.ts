/** Something that will happen at a time. */
export interface Alarm {
  /** Begins the waiting anew, also after it has rung. */
  refresh(): void;
  cancel(): void;
}

/** Time as it passes: the system's, or a test's. */
export interface Timers {
  /** Calls `ring` after `ms` milliseconds. */
  alarm(ms: number, ring: () => void): Alarm;
  /**
   * Whole milliseconds by a clock that never steps, whatever the system's is set to: for durations, and for all that
   * is due at a time. It begins as epoch milliseconds, so that the next process goes on where this one ends.
   */
  readonly monotonic: () => number;
}

export const systemTimers: Timers = {
  alarm(ms, ring) {
    const timer = setTimeout(ring, ms);
    return { refresh: () => timer.refresh(), cancel: () => clearTimeout(timer) };
  },
  monotonic: () => Math.floor(performance.timeOrigin + performance.now()),
};
