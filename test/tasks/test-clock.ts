import type { Alarm, Timers } from '../../server/lib/timers.ts';

interface Pending {
  at: number;
  ring: () => void;
}

/** A clock that stops until the test advances it. */
export class TestClock implements Timers {
  #now: number;
  #skew = 0;
  readonly #pending = new Set<Pending>();

  constructor(now: number) {
    this.#now = now;
  }

  readonly monotonic = (): number => this.#now;

  /** Time of the system clock. */
  readonly now = (): number => this.#now + this.#skew;

  /** Number of pending alarms. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Adjusts the system clock. The monotonic clock does not change. */
  step(ms: number): void {
    this.#skew += ms;
  }

  alarm(ms: number, ring: () => void): Alarm {
    const pending: Pending = { at: this.#now + ms, ring };
    this.#pending.add(pending);
    return {
      refresh: () => {
        pending.at = this.#now + ms;
        this.#pending.add(pending);
      },
      cancel: () => this.#pending.delete(pending),
    };
  }

  /** Advances the time without running alarms. */
  jump(ms: number): void {
    this.#now += ms;
  }

  /** Runs due alarms in order, and waits for `settled` after each. */
  async advance(ms: number, settled: () => Promise<void>): Promise<void> {
    const end = this.#now + ms;
    await settled();
    for (;;) {
      const [next] = [...this.#pending].sort((left, right) => left.at - right.at);
      if (next === undefined || next.at > end) break;
      this.#pending.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.ring();
      await settled();
    }
    this.#now = end;
  }
}
