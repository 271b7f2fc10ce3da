import type { TaskEnvironment } from './environment.ts';

interface Lane {
  running: number;
  /** The last claim took all it could, so more may be due. */
  hungry: boolean;
  pausedUntil: number;
}

/** How many tasks of each channel are being worked on, and how many more may be. */
export class Lanes {
  readonly #env: TaskEnvironment;
  readonly #lanes = new Map<string, Lane>();

  constructor(env: TaskEnvironment) {
    this.#env = env;
  }

  /** What may be claimed of each channel, and when a paused one may be asked again. */
  open(): { lanes: { channel: string; limit: number }[]; nextRoomAt: number } {
    const lanes: { channel: string; limit: number }[] = [];
    let nextRoomAt = Number.POSITIVE_INFINITY;
    for (const channel of this.#env.channels.names) {
      const { pausedUntil } = this.#lane(channel);
      if (pausedUntil > this.#env.clock()) nextRoomAt = Math.min(nextRoomAt, pausedUntil);
      const limit = this.room(channel);
      if (limit > 0) lanes.push({ channel, limit });
      else this.#lane(channel).hungry = true;
    }
    return { lanes, nextRoomAt };
  }

  /** How many more may be worked on now. An unhealthy channel is asked about one task at a time. */
  room(channel: string): number {
    const { running, pausedUntil } = this.#lane(channel);
    if (pausedUntil > this.#env.clock()) return 0;
    return Math.max(0, (this.#healthy(channel) ? this.#env.pollsPerChannel : 1) - running);
  }

  /** Asks the channel nothing for a while, because it asked for that. */
  pause(channel: string, ms: number): void {
    const lane = this.#lane(channel);
    lane.pausedUntil = Math.max(lane.pausedUntil, this.#env.clock() + ms);
  }

  /** Notes how many a claim gave. True when more may be due and there is room for them. */
  claimed(channel: string, { limit, given }: { limit: number; given: number }): boolean {
    const lane = this.#lane(channel);
    lane.hungry = given === limit;
    return lane.hungry && this.room(channel) > 0;
  }

  /** Takes a place, and gives the function to leave it, which says whether another task waits for it. */
  enter(channel: string): () => boolean {
    const lane = this.#lane(channel);
    let left = false;
    lane.running += 1;
    return () => {
      if (left) return false;
      left = true;
      lane.running -= 1;
      return lane.hungry && this.#healthy(channel);
    };
  }

  #healthy(channel: string): boolean {
    return this.#env.channels.named(channel)?.health.healthy ?? true;
  }

  #lane(channel: string): Lane {
    let lane = this.#lanes.get(channel);
    if (lane === undefined) {
      lane = { running: 0, hungry: false, pausedUntil: Number.NEGATIVE_INFINITY };
      this.#lanes.set(channel, lane);
    }
    return lane;
  }
}
