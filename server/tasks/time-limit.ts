import type { Timers } from '../runtime/timers.ts';

/**
 * Runs something that takes a signal, and gives up on it after `ms` or when `outer` is aborted, whether or not it
 * heeds the signal. Rejects with the signal's reason then.
 */
export async function withinLimit<T>(
  timers: Timers,
  ms: number,
  outer: AbortSignal,
  use: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outer.throwIfAborted();
  const controller = new AbortController();
  const given = Promise.withResolvers<never>();
  const giveUp = (reason: unknown) => {
    controller.abort(reason);
    given.reject(reason);
  };
  const leave = () => giveUp(outer.reason);
  // Not AbortSignal.any: `outer` lives as long as the process, and so would what hangs on it.
  outer.addEventListener('abort', leave, { once: true });
  const alarm = timers.alarm(ms, () => giveUp(new TimeLimitError(ms)));
  try {
    return await Promise.race([use(controller.signal), given.promise]);
  } finally {
    outer.removeEventListener('abort', leave);
    alarm.cancel();
  }
}

/** The upstream took longer than it may. It has the code of a connection that went silent. */
export class TimeLimitError extends Error {
  readonly code = 'UND_ERR_BODY_TIMEOUT';

  constructor(ms: number) {
    super(`the upstream did not answer within ${ms} ms`);
  }
}
