import type { Alarm, Timers } from '../../server/lib/timers.ts';

interface Pending {
  at: number;
  ring: () => void;
}

/** A clock that stands still until it is told to go on. */
export class TestClock implements Timers {
  #now: number;
  #skew = 0;
  readonly #pending = new Set<Pending>();

  constructor(now: number) {
    this.#now = now;
  }

  readonly monotonic = (): number => this.#now;

  /** What the system's clock shows. */
  readonly now = (): number => this.#now + this.#skew;

  /** How many alarms have not rung. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Sets the system's clock, by so much: no time passes. */
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

  /** Only sets the time: nothing rings. */
  jump(ms: number): void {
    this.#now += ms;
  }

  /** Lets alarms ring in their order, and waits after each until `settled`. */
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
