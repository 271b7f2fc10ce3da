import { setImmediate } from 'node:timers/promises';

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

/**
 * Runs something that takes a signal, and gives up on it after `ms` or when `outer` is aborted, whether or not it
 * heeds the signal. Rejects with the signal's reason then.
 */
export function withinLimit<T>(
  timers: Timers,
  ms: number,
  outer: AbortSignal,
  use: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    outer.throwIfAborted();
    const controller = new AbortController();
    const end = () => {
      outer.removeEventListener('abort', leave);
      alarm.cancel();
    };
    const giveUp = (reason: unknown) => {
      end();
      controller.abort(reason);
      reject(reason);
    };
    const leave = () => giveUp(outer.reason);
    // Not AbortSignal.any: `outer` lives as long as the process, and so would what hangs on it.
    outer.addEventListener('abort', leave, { once: true });
    const alarm = timers.alarm(ms, () => giveUp(new TimeLimitError(ms)));
    use(controller.signal).then(
      (value) => {
        end();
        resolve(value);
      },
      (error: unknown) => {
        end();
        reject(error);
      },
    );
  });
}

/** The upstream took longer than it may. It has the code of a connection that went silent. */
export class TimeLimitError extends Error {
  readonly code = 'UND_ERR_BODY_TIMEOUT';

  constructor(ms: number) {
    super(`the upstream did not answer within ${ms} ms`);
  }
}

/** To be awaited between the steps of long work, so that nothing else waits for all of it. */
export function yieldToEventLoop(): Promise<void> {
  return setImmediate();
}
