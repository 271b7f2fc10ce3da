import { setImmediate } from 'node:timers/promises';

/** A pending call of `Timers.alarm`. */
export interface Alarm {
  /** Starts the delay again, also after the call. */
  refresh(): void;
  cancel(): void;
}

/** The clock and timers of the system, or of a test. */
export interface Timers {
  /** Calls `callback` after `ms` milliseconds. */
  alarm(ms: number, callback: () => void): Alarm;
  /**
   * Whole milliseconds of a monotonic clock, for durations and due times. It starts at the epoch time of the process
   * start, so that due times remain comparable in the next process.
   */
  readonly monotonic: () => number;
}

export const systemTimers: Timers = {
  alarm(ms, callback) {
    const timer = setTimeout(callback, ms);
    return { refresh: () => timer.refresh(), cancel: () => clearTimeout(timer) };
  },
  monotonic: () => Math.floor(performance.timeOrigin + performance.now()),
};

/**
 * Runs `use` for at most `ms` milliseconds, or until `outer` aborts. Rejects with the reason of the abort even if `use`
 * ignores its signal.
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
      outer.removeEventListener('abort', abort);
      alarm.cancel();
    };
    const giveUp = (reason: unknown) => {
      end();
      controller.abort(reason);
      reject(reason);
    };
    const abort = () => giveUp(outer.reason);
    // Not AbortSignal.any, because `outer` may live as long as the process and would retain each derived signal.
    outer.addEventListener('abort', abort, { once: true });
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

/** The upstream exceeded its time limit. Has the code of undici's body timeout. */
export class TimeLimitError extends Error {
  readonly code = 'UND_ERR_BODY_TIMEOUT';

  constructor(ms: number) {
    super(`the upstream did not answer within ${ms} ms`);
  }
}

/** Lets other work run between two steps of long synchronous work. */
export function yieldToEventLoop(): Promise<void> {
  return setImmediate();
}
