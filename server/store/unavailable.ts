import { Failure } from '../failure.ts';

/**
 * The store cannot do anything for the moment: its database is away, or its disk is full. Nothing of what was asked
 * is written, so it may be asked again.
 */
export class StoreUnavailable extends Failure {
  /** `reason` is for the operator; clients do not see it. */
  constructor(reason: unknown) {
    super(503, 'store_unavailable', 'The gateway cannot reach its records for the moment. Repeat later.', {
      retryAfter: 1,
      cause: reason,
    });
  }
}

/** Between two tries, in milliseconds: the first, and the longest. */
const firstPause = 50;
const maxPause = 1_000;

/** Tries until the store takes it. Rejects with any other error, and with the last one when `over` is aborted. */
export async function untilTaken<T>(over: AbortSignal, attempt: () => Promise<T>): Promise<T> {
  for (let pause = firstPause; ; pause = Math.min(maxPause, pause * 2)) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || over.aborted) throw error;
    }
    await pauseFor(pause, over);
  }
}

/** Resolves after `ms` milliseconds, or as soon as `over` is aborted. */
function pauseFor(ms: number, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      over.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    over.addEventListener('abort', done);
  });
}
