import type { Timers } from './timers.ts';

/** Runs a task on an interval until it is stopped. */
export class PeriodicTask {
  readonly #timers: Timers;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;
  #wake: () => void = () => {};

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /**
   * Runs `task` after every interval. The first run follows the first interval, and runs never overlap. Passes errors of
   * `task` to `onError`.
   */
  start(intervalMs: number, task: () => Promise<unknown>, onError: (error: unknown) => void): void {
    this.#running = (async () => {
      for (;;) {
        await this.pause(intervalMs);
        if (this.#stopped) return;
        await task().catch(onError);
      }
    })();
  }

  /** Ends a pause at once and waits for the current run. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake();
    await this.#running;
  }

  /** Resolves after `ms` milliseconds, or earlier on `stop`. The task may use it between its steps. */
  pause(ms: number): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const alarm = this.#timers.alarm(ms, resolve);
      this.#wake = () => {
        alarm.cancel();
        resolve();
      };
    });
  }
}
