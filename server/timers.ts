/** Something that will happen at a time. */
export interface Alarm {
  /** Begins the waiting anew, also after it has rung. */
  refresh(): void;
  cancel(): void;
}

/** Where alarms come from: the system's clock, or a test's. */
export interface Timers {
  /** Calls `ring` after `ms` milliseconds. */
  alarm(ms: number, ring: () => void): Alarm;
}

export const systemTimers: Timers = {
  alarm(ms, ring) {
    const timer = setTimeout(ring, ms);
    return { refresh: () => timer.refresh(), cancel: () => clearTimeout(timer) };
  },
};
