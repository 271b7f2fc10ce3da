import { TimeLimitError, type Timers } from './timers.ts';

/** Time limit of a call, in milliseconds. It is longer than a provider may stay silent. */
const timeLimitMs = 180_000;

/**
 * Provider calls that create something. They complete and record their result even if the client disconnects.
 */
export class DetachedCalls {
  readonly #timers: Timers;
  readonly #running = new Map<Promise<unknown>, AbortController>();
  #stopped = false;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Runs `work` with a signal that is independent of the client connection. */
  run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    if (this.#stopped) controller.abort(new StoppedError());
    const alarm = this.#timers.alarm(timeLimitMs, () => controller.abort(new TimeLimitError(timeLimitMs)));
    const running = work(controller.signal).finally(() => {
      alarm.cancel();
      this.#running.delete(running);
    });
    this.#running.set(running, controller);
    return running;
  }

  /** Waits up to `graceMs` milliseconds for running calls, then aborts the rest and every later call. */
  async stop(graceMs: number): Promise<void> {
    const cutOff = this.#timers.alarm(graceMs, () => {
      this.#stopped = true;
      for (const controller of this.#running.values()) controller.abort(new StoppedError());
    });
    while (this.#running.size > 0) await Promise.allSettled(this.#running.keys());
    this.#stopped = true;
    cutOff.cancel();
  }
}

class StoppedError extends Error {
  constructor() {
    super('the gateway stops');
  }
}
