import { SlotAllocator } from '../lib/slot-allocator.ts';
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

/** Limits concurrent requests, and shares the slots among users: see `SlotAllocator`. A request without a slot waits for one. */
export class Slots {
  readonly #options: SlotOptions;
  readonly #allocator: SlotAllocator<SlotUser>;
  /** By user, in the order of arrival. */
  readonly #waiting = new Map<SlotUser, Set<() => void>>();

  constructor(options: SlotOptions) {
    this.#options = options;
    this.#allocator = new SlotAllocator({ free: options.count });
  }

  /** True if no request holds a slot or waits for one. */
  get isIdle(): boolean {
    return this.#allocator.free === this.#options.count && this.#waiting.size === 0;
  }

  /** Number of waiting requests. */
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
      if (this.#allocator.available(user) > 0) {
        resolve(this.#enter(user));
        return;
      }
      const { waitMs, timers = systemTimers } = this.#options;
      const enter = () => {
        stop();
        resolve(this.#enter(user));
      };
      const late = timers.alarm(waitMs, () => {
        stop();
        reject(new BusyError(`no slot became free within ${waitMs} ms`));
      });
      const abort = () => {
        stop();
        reject(signal.reason);
      };
      const stop = () => {
        late.cancel();
        signal.removeEventListener('abort', abort);
        this.#dequeue(user, enter);
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#enqueue(user, enter);
    });
  }

  #enter(user: SlotUser): Release {
    let isReleased = false;
    this.#allocator.acquire(user);
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#allocator.release(user);
      this.#admitWaiting();
    };
  }

  #admitWaiting(): void {
    for (const [user, own] of this.#waiting) {
      for (const enter of own) {
        if (this.#allocator.available(user) === 0) break;
        enter();
      }
    }
  }

  #enqueue(user: SlotUser, enter: () => void): void {
    const own = this.#waiting.get(user) ?? new Set();
    own.add(enter);
    this.#waiting.set(user, own);
  }

  #dequeue(user: SlotUser, enter: () => void): void {
    const own = this.#waiting.get(user);
    own?.delete(enter);
    if (own?.size === 0) this.#waiting.delete(user);
  }
}
