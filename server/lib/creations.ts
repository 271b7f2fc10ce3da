import { TimeLimitError, type Timers } from './timers.ts';

/** Longest time for one, in milliseconds: more than a provider may be silent. */
const limit = 180_000;

/**
 * Calls that make something at a provider: once sent they go on to their end, and what was made is written down, whether
 * or not the client waits for it.
 */
export class Creations {
  readonly #timers: Timers;
  readonly #running = new Map<Promise<unknown>, AbortController>();
  #stopped = false;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Does the work with a signal that no client aborts. */
  run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    if (this.#stopped) controller.abort(new StoppedError());
    const late = this.#timers.alarm(limit, () => controller.abort(new TimeLimitError(limit)));
    const running = work(controller.signal).finally(() => {
      late.cancel();
      this.#running.delete(running);
    });
    this.#running.set(running, controller);
    return running;
  }

  /** Waits up to `graceMs` milliseconds for what runs, and breaks the rest off. */
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
