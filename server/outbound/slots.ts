import { SlotAllocator } from '../lib/slot-allocator.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';

export interface SlotOptions {
  /** Slots of all users together. */
  count: number;
  /** Longest wait for one, in milliseconds. */
  waitMs: number;
  timers?: Timers;
}

/** User of a slot. Undefined for the gateway itself. */
export type SlotUser = number | undefined;

/** No slot became free in time, so nothing was sent. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}

/** Releases a slot. Has no effect when called again. */
export type Release = () => void;

/** Limits concurrent requests and shares the slots among users as `SlotAllocator` does. Further requests wait. */
export class Slots {
  readonly #options: SlotOptions;
  readonly #allocator: SlotAllocator<SlotUser>;
  /** Waiting requests by user, in the order of arrival. */
  readonly #waiting = new Map<SlotUser, Set<() => void>>();

  constructor(options: SlotOptions) {
    this.#options = options;
    this.#allocator = new SlotAllocator({ free: options.count });
  }

  /** True if no request holds a slot or waits for one. */
  get isIdle(): boolean {
    return this.#allocator.free === this.#options.count && this.#waiting.size === 0;
  }

  get waiting(): number {
    return this.#waiting.values().reduce((sum, queue) => sum + queue.size, 0);
  }

  /** Resolves when the user has a slot. @throws BusyError after `waitMs`, and the signal's reason when it aborts */
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
        queue.delete(enter);
        if (queue.size === 0) this.#waiting.delete(user);
      };
      signal.addEventListener('abort', abort, { once: true });
      const queue = this.#waiting.getOrInsertComputed(user, () => new Set());
      queue.add(enter);
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
    for (const [user, queue] of this.#waiting) {
      for (const enter of queue) {
        if (this.#allocator.available(user) === 0) break;
        enter();
      }
    }
  }
}
