import { type HeldSlots, SlotAllocator } from '../lib/slot-allocator.ts';
import type { TaskEnvironment } from './environment.ts';

interface ChannelSlots {
  allocator: SlotAllocator;
  /** Whether more tasks may be due than there were free slots. */
  backlog: boolean;
  pausedUntil: number;
  /** Throttled tasks since the channel last reported a state, by task id. */
  throttled: Map<string, { reportedAt: number; until: number }>;
}

/** Number of tasks that must be throttled within `throttleWindowMs` before the whole channel pauses. */
const minThrottledTasks = 3;
const throttleWindowMs = 10_000;

/** Slots for polls of each channel, shared among users. */
export class PollSlots {
  readonly #env: TaskEnvironment;
  readonly #channels = new Map<string, ChannelSlots>();

  constructor(env: TaskEnvironment) {
    this.#env = env;
  }

  /** Returns the channels with free slots, and the earliest end of a pause. */
  open(): {
    channels: { channel: string; free: number; users: HeldSlots[] }[];
    nextFreeAt: number;
  } {
    const channels = [];
    let nextFreeAt = Number.POSITIVE_INFINITY;
    for (const channel of this.#env.channels.names) {
      const slots = this.#slots(channel);
      // A slot that is released during the claim needs another claim.
      slots.backlog = true;
      const { allocator, pausedUntil } = slots;
      if (this.#isPaused(slots)) nextFreeAt = Math.min(nextFreeAt, pausedUntil);
      else if (allocator.free > 0) channels.push({ channel, free: allocator.free, users: allocator.held });
    }
    return { channels, nextFreeAt };
  }

  /** Whether the user can acquire one more slot now. */
  hasFree(channel: string, userId: number): boolean {
    const slots = this.#slots(channel);
    return !this.#isPaused(slots) && slots.allocator.available(userId) > 0;
  }

  /** Records that a claim found no more due tasks of the channel. */
  emptied(channel: string): void {
    this.#slots(channel).backlog = false;
  }

  /**
   * Records that the provider throttled the polls of a task. Other tasks continue, unless several are throttled. Then the
   * channel pauses for the shortest of their times.
   */
  throttled(channel: string, taskId: string, ms: number): void {
    const slots = this.#slots(channel);
    const now = this.#env.timers.monotonic();
    for (const [id, { reportedAt }] of slots.throttled)
      if (reportedAt < now - throttleWindowMs) slots.throttled.delete(id);
    slots.throttled.set(taskId, { reportedAt: now, until: now + ms });
    if (slots.throttled.size < minThrottledTasks) return;
    const until = Math.min(...[...slots.throttled.values()].map(({ until }) => until));
    slots.pausedUntil = Math.max(slots.pausedUntil, until);
    slots.throttled.clear();
  }

  /** Records that the channel reported the state of a task, so it does not throttle. */
  answered(channel: string): void {
    this.#slots(channel).throttled.clear();
  }

  /** Acquires a slot. Returns the function that releases it, and returns whether more tasks may wait for the slot. */
  enter(channel: string, userId: number): () => boolean {
    const slots = this.#slots(channel);
    let isReleased = false;
    slots.allocator.acquire(userId);
    return () => {
      if (isReleased) return false;
      isReleased = true;
      slots.allocator.release(userId);
      return slots.backlog;
    };
  }

  #isPaused({ pausedUntil }: ChannelSlots): boolean {
    return pausedUntil > this.#env.timers.monotonic();
  }

  #slots(channel: string): ChannelSlots {
    return this.#channels.getOrInsertComputed(channel, () => ({
      allocator: new SlotAllocator({ free: this.#env.pollsPerChannel }),
      backlog: false,
      pausedUntil: Number.NEGATIVE_INFINITY,
      throttled: new Map(),
    }));
  }
}
