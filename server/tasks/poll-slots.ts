import type { TaskEnvironment } from './environment.ts';

interface ChannelSlots {
  running: number;
  /** Of each user who has any. */
  users: Map<number, number>;
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

/**
 * How many tasks of each channel are being worked on, and how many more may be. A user may have no more under way
 * than there are slots free: whoever comes next always finds some, however long the others' take.
 */
export class PollSlots {
  readonly #env: TaskEnvironment;
  readonly #channels = new Map<string, ChannelSlots>();

  constructor(env: TaskEnvironment) {
    this.#env = env;
  }

  /** What may be claimed of each channel, and when a paused one may be asked again. */
  open(): {
    shares: { channel: string; free: number; users: { userId: number; running: number }[] }[];
    nextFreeAt: number;
  } {
    const shares = [];
    let nextFreeAt = Number.POSITIVE_INFINITY;
    for (const channel of this.#env.channels.names) {
      const slots = this.#slots(channel);
      // A slot that becomes free during the claim is worth another look.
      slots.backlog = true;
      if (this.#paused(slots)) nextFreeAt = Math.min(nextFreeAt, slots.pausedUntil);
      const free = this.#free(slots);
      if (free === 0) continue;
      const users = [...slots.users].map(([userId, running]) => ({ userId, running }));
      shares.push({ channel, free, users });
    }
    return { shares, nextFreeAt };
  }

  /** Whether one more of the user's tasks may be worked on now. */
  hasFree(channel: string, userId: number): boolean {
    const slots = this.#slots(channel);
    return (slots.users.get(userId) ?? 0) < this.#free(slots);
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
    slots.running += 1;
    slots.users.set(userId, (slots.users.get(userId) ?? 0) + 1);
    return () => {
      if (left) return false;
      left = true;
      slots.running -= 1;
      const own = (slots.users.get(userId) ?? 1) - 1;
      if (own > 0) slots.users.set(userId, own);
      else slots.users.delete(userId);
      return slots.backlog;
    };
  }

  #free(slots: ChannelSlots): number {
    return this.#paused(slots) ? 0 : Math.max(0, this.#env.pollsPerChannel - slots.running);
  }

  #paused({ pausedUntil }: ChannelSlots): boolean {
    return pausedUntil > this.#env.timers.monotonic();
  }

  #slots(channel: string): ChannelSlots {
    let slots = this.#channels.get(channel);
    if (slots === undefined) {
      const pausedUntil = Number.NEGATIVE_INFINITY;
      slots = { running: 0, users: new Map(), backlog: false, pausedUntil, throttled: new Map() };
      this.#channels.set(channel, slots);
    }
    return slots;
  }
}
