import { type HeldSlots, SlotAllocator } from '../lib/slot-allocator.ts';
import type { TaskEnvironment } from './environment.ts';

interface ChannelSlots {
  allocator: SlotAllocator;
  /** More may be due than there were free slots for. */
  backlog: boolean;
  pausedUntil: number;
  /** Until when tasks are to wait, as the provider said since the channel last answered, by task. */
  throttled: Map<string, { reportedAt: number; until: number }>;
}

/** So many tasks must be throttled before the whole channel waits. */
const agreeing = 3;
/** Within such a time, in milliseconds. */
const agreement = 10_000;

/** Counts the tasks of each channel that are being worked on, and how many more may be, shared among users. */
export class PollSlots {
  readonly #env: TaskEnvironment;
  readonly #channels = new Map<string, ChannelSlots>();

  constructor(env: TaskEnvironment) {
    this.#env = env;
  }

  /** What may be claimed of each channel, and when a paused one may be asked again. */
  open(): {
    channels: { channel: string; free: number; users: HeldSlots[] }[];
    nextFreeAt: number;
  } {
    const channels = [];
    let nextFreeAt = Number.POSITIVE_INFINITY;
    for (const channel of this.#env.channels.names) {
      const slots = this.#slots(channel);
      // A slot that becomes free during the claim is worth another look.
      slots.backlog = true;
      if (this.#paused(slots)) nextFreeAt = Math.min(nextFreeAt, slots.pausedUntil);
      const free = this.#free(slots);
      if (free === 0) continue;
      channels.push({ channel, free, users: slots.allocator.held });
    }
    return { channels, nextFreeAt };
  }

  /** Whether one more of the user's tasks may be worked on now. */
  hasFree(channel: string, userId: number): boolean {
    const slots = this.#slots(channel);
    return !this.#paused(slots) && slots.allocator.available(userId) > 0;
  }

  /** Notes that a claim found no more that could be taken now. */
  emptied(channel: string): void {
    this.#slots(channel).backlog = false;
  }

  /**
   * The provider throttled the polls of a task for so long. One task does not speak for all: only when several are
   * throttled is the channel not polled at all, for as long as the shortest of them.
   */
  throttled(channel: string, taskId: string, ms: number): void {
    const slots = this.#slots(channel);
    const now = this.#env.timers.monotonic();
    for (const [id, { reportedAt }] of slots.throttled)
      if (reportedAt < now - agreement) slots.throttled.delete(id);
    slots.throttled.set(taskId, { reportedAt: now, until: now + ms });
    if (slots.throttled.size < agreeing) return;
    const until = Math.min(...[...slots.throttled.values()].map(({ until }) => until));
    slots.pausedUntil = Math.max(slots.pausedUntil, until);
    slots.throttled.clear();
  }

  /** The channel reported the state of a task: it does not throttle. */
  answered(channel: string): void {
    this.#slots(channel).throttled.clear();
  }

  /** Takes a slot, and gives the function that frees it, which says whether another task waits for it. */
  enter(channel: string, userId: number): () => boolean {
    const slots = this.#slots(channel);
    let left = false;
    slots.allocator.acquire(userId);
    return () => {
      if (left) return false;
      left = true;
      slots.allocator.release(userId);
      return slots.backlog;
    };
  }

  #free(slots: ChannelSlots): number {
    return this.#paused(slots) ? 0 : Math.max(0, slots.allocator.free);
  }

  #paused({ pausedUntil }: ChannelSlots): boolean {
    return pausedUntil > this.#env.timers.monotonic();
  }

  #slots(channel: string): ChannelSlots {
    let slots = this.#channels.get(channel);
    if (slots === undefined) {
      const pausedUntil = Number.NEGATIVE_INFINITY;
      const allocator = new SlotAllocator({ free: this.#env.pollsPerChannel });
      slots = { allocator, backlog: false, pausedUntil, throttled: new Map() };
      this.#channels.set(channel, slots);
    }
    return slots;
  }
}
