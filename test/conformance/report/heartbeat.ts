/** Reports of a check that waits. */
export interface HeartbeatOptions {
  /** Called when a check runs for a long time, with the time that it has run, and again at each interval. */
  onWait?: ((operation: string, check: string, seconds: number) => void) | undefined;
  /** Interval of `onWait`, in milliseconds. Default: 15,000. */
  waitIntervalMs?: number | undefined;
}

/** Reports a check that runs for a long time, so that a log shows progress. */
export class Heartbeat {
  readonly #onWait: NonNullable<HeartbeatOptions['onWait']>;
  readonly #intervalMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor({ onWait = () => undefined, waitIntervalMs = 15_000 }: HeartbeatOptions) {
    this.#onWait = onWait;
    this.#intervalMs = waitIntervalMs;
  }

  /** Starts the clock of a check. */
  start(operation: string, check: string): void {
    this.stop();
    const startedAt = performance.now();
    this.#timer = setInterval(() => {
      this.#onWait(operation, check, Math.round((performance.now() - startedAt) / 1000));
    }, this.#intervalMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
