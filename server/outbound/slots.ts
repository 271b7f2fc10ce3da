import { systemTimers, type Timers } from '../lib/timers.ts';

export interface SlotOptions {
  /** Of all users together. */
  count: number;
  /** Longest wait for one, in milliseconds. */
  waitMs: number;
  timers?: Timers;
}

/** Whose a slot is: a user, or undefined for the gateway itself. */
export type SlotUser = number | undefined;

/** No slot became free in time: nothing was sent. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}

/** Gives a slot back; more than once does no harm. */
export type Release = () => void;

/**
 * So much at a time, and nobody all of it: a user may have no more slots than are left free, so whoever comes next
 * always finds some. Who finds none waits.
 */
export class Slots {
  readonly #options: SlotOptions;
  readonly #taken = new Map<SlotUser, number>();
  /** By user, in the order in which they came. */
  readonly #waiting = new Map<SlotUser, Set<() => void>>();
  #free: number;

  constructor(options: SlotOptions) {
    this.#options = options;
    this.#free = options.count;
  }

  /** Whether nobody has or wants one. */
  get isIdle(): boolean {
    return this.#free === this.#options.count && this.#waiting.size === 0;
  }

  /** How many wait for one. */
  get waiting(): number {
    let waiting = 0;
    for (const own of this.#waiting.values()) waiting += own.size;
    return waiting;
  }

  /**
   * Resolves when the user has a slot.
   *
   * @throws BusyError when that takes too long; the signal's reason when it is aborted first
   */
  acquire(user: SlotUser, signal: AbortSignal): Promise<Release> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (this.#mayTake(user)) {
        resolve(this.#enter(user));
        return;
      }
      const { waitMs, timers = systemTimers } = this.#options;
      const give = () => {
        stop();
        resolve(this.#enter(user));
      };
      const late = timers.alarm(waitMs, () => {
        stop();
        reject(new BusyError(`no slot became free within ${waitMs} ms`));
      });
      const leave = () => {
        stop();
        reject(signal.reason);
      };
      const stop = () => {
        late.cancel();
        signal.removeEventListener('abort', leave);
        this.#forget(user, give);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#queue(user, give);
    });
  }

  #mayTake(user: SlotUser): boolean {
    return (this.#taken.get(user) ?? 0) < this.#free;
  }

  #enter(user: SlotUser): Release {
    let left = false;
    this.#free -= 1;
    this.#taken.set(user, (this.#taken.get(user) ?? 0) + 1);
    return () => {
      if (left) return;
      left = true;
      this.#free += 1;
      const taken = (this.#taken.get(user) ?? 1) - 1;
      if (taken > 0) this.#taken.set(user, taken);
      else this.#taken.delete(user);
      this.#callNext();
    };
  }

  #callNext(): void {
    for (const [user, own] of this.#waiting) {
      for (const give of own) {
        if (!this.#mayTake(user)) break;
        give();
      }
    }
  }

  #queue(user: SlotUser, give: () => void): void {
    const own = this.#waiting.get(user) ?? new Set();
    own.add(give);
    this.#waiting.set(user, own);
  }

  #forget(user: SlotUser, give: () => void): void {
    const own = this.#waiting.get(user);
    own?.delete(give);
    if (own?.size === 0) this.#waiting.delete(user);
  }
}
