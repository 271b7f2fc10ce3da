import type { Timers } from './timers.ts';

/** Work in rounds, with pauses in which it can be stopped. */
export class Rounds {
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

  /** Begins after the first pause. `round` may pause too; what it throws goes to `failed`. */
  start(everyMs: number, round: () => Promise<unknown>, failed: (error: unknown) => void): void {
    this.#running = (async () => {
      for (;;) {
        await this.pause(everyMs);
        if (this.#stopped) return;
        await round().catch(failed);
      }
    })();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake();
    await this.#running;
  }

  /** Until the time is over, or all is to stop. */
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
