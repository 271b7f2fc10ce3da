import type { Alarm, Timers } from '../lib/timers.ts';
import { StoreUnavailable } from './availability.ts';

export interface ClaimLoopOptions {
  timers: Timers;
  /** Shortest time between two claims. */
  gapMs: number;
  /** Longest time between two claims. */
  idleMs: number;
  /** Claims due work and returns when more is due, by the monotonic clock. */
  claim: () => Promise<number>;
  onError: (error: unknown) => void;
}

/** Pause after a failed claim. */
const failurePauseMs = 1_000;

/** Claims due work repeatedly: when it is due, when the loop is woken, and at least every `idleMs`. */
export class ClaimLoop {
  readonly #options: ClaimLoopOptions;
  #alarm: Alarm | undefined;
  #alarmAt = Number.POSITIVE_INFINITY;
  #claimedAt = Number.NEGATIVE_INFINITY;
  #claiming: Promise<void> | undefined;
  #wokenAt = Number.POSITIVE_INFINITY;
  #running = false;

  constructor(options: ClaimLoopOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = true;
    this.wake();
  }

  /** Resolves when the current claim has completed. */
  async stop(): Promise<void> {
    this.#running = false;
    this.#alarm?.cancel();
    await this.#claiming;
  }

  /** Schedules a claim at a time that can be earlier than the loop expects. */
  wake(at = this.#options.timers.monotonic()): void {
    if (!this.#running) return;
    if (this.#claiming !== undefined) {
      this.#wokenAt = Math.min(this.#wokenAt, at);
      return;
    }
    const { timers, gapMs } = this.#options;
    const target = Math.max(at, this.#claimedAt + gapMs);
    if (target >= this.#alarmAt) return;
    this.#alarm?.cancel();
    this.#alarmAt = target;
    this.#alarm = timers.alarm(Math.max(0, target - timers.monotonic()), () => {
      this.#alarmAt = Number.POSITIVE_INFINITY;
      this.#claiming = this.#claimAndPlan();
    });
  }

  async #claimAndPlan(): Promise<void> {
    const { claim, timers, idleMs, onError } = this.#options;
    this.#claimedAt = timers.monotonic();
    let next: number;
    try {
      next = await claim();
    } catch (error) {
      // The store logs its own unavailability once.
      if (!(error instanceof StoreUnavailable)) onError(error);
      next = timers.monotonic() + failurePauseMs;
    }
    this.#claiming = undefined;
    const woken = this.#wokenAt;
    this.#wokenAt = Number.POSITIVE_INFINITY;
    this.wake(Math.min(next, woken, timers.monotonic() + idleMs));
  }
}
