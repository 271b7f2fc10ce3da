import type { TaskEnvironment } from './environment.ts';

interface Lane {
  running: number;
  /** Of each user who has any. */
  users: Map<number, number>;
  /** More may be due than there was room for. */
  hungry: boolean;
  pausedUntil: number;
  /** Until when tasks were told to wait since the channel last answered, by task. */
  throttled: Map<string, { toldAt: number; until: number }>;
}

/** So many tasks must be told to wait before the whole channel does. */
const agreeing = 3;
/** Within such a time, in milliseconds. */
const agreement = 10_000;

/**
 * How many tasks of each channel are being worked on, and how many more may be. A user may have no more under way
 * than there are places free: whoever comes next always finds some, however long the others' take.
 */
export class Lanes {
  readonly #env: TaskEnvironment;
  readonly #lanes = new Map<string, Lane>();

  constructor(env: TaskEnvironment) {
    this.#env = env;
  }

  /** What may be claimed of each channel, and when a paused one may be asked again. */
  open(): {
    lanes: { channel: string; free: number; users: { userId: number; running: number }[] }[];
    nextRoomAt: number;
  } {
    const lanes = [];
    let nextRoomAt = Number.POSITIVE_INFINITY;
    for (const channel of this.#env.channels.names) {
      const lane = this.#lane(channel);
      // A place that becomes free during the claim is worth another look.
      lane.hungry = true;
      if (this.#paused(lane)) nextRoomAt = Math.min(nextRoomAt, lane.pausedUntil);
      const free = this.#free(lane);
      if (free === 0) continue;
      const users = [...lane.users].map(([userId, running]) => ({ userId, running }));
      lanes.push({ channel, free, users });
    }
    return { lanes, nextRoomAt };
  }

  /** Whether one more of the user's tasks may be worked on now. */
  hasRoom(channel: string, userId: number): boolean {
    const lane = this.#lane(channel);
    return (lane.users.get(userId) ?? 0) < this.#free(lane);
  }

  /** Notes that a claim found no more that could be taken now. */
  emptied(channel: string): void {
    this.#lane(channel).hungry = false;
  }

  /**
   * The channel asked to be left alone with a task for so long. One task's word is not taken for all: only when
   * several agree is it asked nothing at all, for as long as all of them say.
   */
  throttled(channel: string, taskId: string, ms: number): void {
    const lane = this.#lane(channel);
    const now = this.#env.timers.monotonic();
    for (const [id, { toldAt }] of lane.throttled) if (toldAt < now - agreement) lane.throttled.delete(id);
    lane.throttled.set(taskId, { toldAt: now, until: now + ms });
    if (lane.throttled.size < agreeing) return;
    const until = Math.min(...[...lane.throttled.values()].map((told) => told.until));
    lane.pausedUntil = Math.max(lane.pausedUntil, until);
    lane.throttled.clear();
  }

  /** The channel told the state of a task: it takes questions. */
  answered(channel: string): void {
    this.#lane(channel).throttled.clear();
  }

  /** Takes a place, and gives the function to leave it, which says whether another task waits for it. */
  enter(channel: string, userId: number): () => boolean {
    const lane = this.#lane(channel);
    let left = false;
    lane.running += 1;
    lane.users.set(userId, (lane.users.get(userId) ?? 0) + 1);
    return () => {
      if (left) return false;
      left = true;
      lane.running -= 1;
      const own = (lane.users.get(userId) ?? 1) - 1;
      if (own > 0) lane.users.set(userId, own);
      else lane.users.delete(userId);
      return lane.hungry;
    };
  }

  #free(lane: Lane): number {
    return this.#paused(lane) ? 0 : Math.max(0, this.#env.pollsPerChannel - lane.running);
  }

  #paused({ pausedUntil }: Lane): boolean {
    return pausedUntil > this.#env.timers.monotonic();
  }

  #lane(channel: string): Lane {
    let lane = this.#lanes.get(channel);
    if (lane === undefined) {
      const pausedUntil = Number.NEGATIVE_INFINITY;
      lane = { running: 0, users: new Map(), hungry: false, pausedUntil, throttled: new Map() };
      this.#lanes.set(channel, lane);
    }
    return lane;
  }
}
