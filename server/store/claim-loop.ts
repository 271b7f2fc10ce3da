import type { Alarm, Timers } from '../lib/timers.ts';
import { StoreUnavailable } from './availability.ts';

export interface ClaimLoopOptions {
  timers: Timers;
  /** Least milliseconds between two claims. */
  gapMs: number;
  /** Most milliseconds between two claims. */
  idleMs: number;
  /** Claims what is due, and says when something will be again, by the monotonic clock. */
  claim: () => Promise<number>;
  failed: (error: unknown) => void;
}

/** Pause after a claim failed, in milliseconds. */
const failurePause = 1_000;

/** Claims again and again: when something is due, when it is woken, and now and then. */
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

  /** Resolves when the last claim is done. */
  async stop(): Promise<void> {
    this.#running = false;
    this.#alarm?.cancel();
    await this.#claiming;
  }

  /** Something may be due at that time, earlier than the loop expects. */
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
    const { claim, timers, idleMs, failed } = this.#options;
    this.#claimedAt = timers.monotonic();
    let next: number;
    try {
      next = await claim();
    } catch (error) {
      // An absent store is logged once, by itself.
      if (!(error instanceof StoreUnavailable)) failed(error);
      next = timers.monotonic() + failurePause;
    }
    this.#claiming = undefined;
    const woken = this.#wokenAt;
    this.#wokenAt = Number.POSITIVE_INFINITY;
    this.wake(Math.min(next, woken, timers.monotonic() + idleMs));
  }
}
