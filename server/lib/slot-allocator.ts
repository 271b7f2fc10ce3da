/** Slots that a user holds. */
export interface HeldSlots<User = number> {
  userId: User;
  running: number;
}

/**
 * Shares slots among users. A user can acquire a slot only while it holds fewer slots than are free, so another user
 * always finds one.
 */
export class SlotAllocator<User = number> {
  readonly #held: Map<User, number>;
  readonly #maxPerUser: number;
  #free: number;

  /** `free`: slots that nobody holds; `held`: slots in addition to these. */
  constructor({
    free,
    held = [],
    maxPerUser = Number.POSITIVE_INFINITY,
  }: {
    free: number;
    held?: readonly HeldSlots<User>[];
    maxPerUser?: number;
  }) {
    this.#free = free;
    this.#held = new Map(held.map(({ userId, running }) => [userId, running]));
    this.#maxPerUser = maxPerUser;
  }

  /** Slots that nobody holds. Below 0 after more were acquired than there are. */
  get free(): number {
    return this.#free;
  }

  /** Every user that holds slots. */
  get held(): HeldSlots<User>[] {
    return [...this.#held].map(([userId, running]) => ({ userId, running }));
  }

  /** Users that hold slots and can acquire no more now. */
  get exhaustedUsers(): User[] {
    return [...this.#held.keys()].filter((userId) => this.available(userId) === 0);
  }

  heldBy(userId: User): number {
    return this.#held.get(userId) ?? 0;
  }

  /** Slots that the user can acquire in a row. */
  available(userId: User): number {
    const held = this.heldBy(userId);
    // Each acquired slot is one more held and one fewer free.
    return Math.max(0, Math.min(Math.ceil((this.#free - held) / 2), this.#maxPerUser - held));
  }

  /** Slots that each user, except the exhausted ones, can acquire in a row. */
  get availableToAny(): number {
    const open = [...this.#held.keys()].map((userId) => this.available(userId)).filter((count) => count > 0);
    const newcomer = Math.max(0, Math.min(Math.ceil(this.#free / 2), this.#maxPerUser));
    return Math.min(newcomer, ...open);
  }

  acquire(userId: User): void {
    this.#free -= 1;
    this.#held.set(userId, this.heldBy(userId) + 1);
  }

  release(userId: User): void {
    this.#free += 1;
    const held = this.heldBy(userId) - 1;
    if (held > 0) this.#held.set(userId, held);
    else this.#held.delete(userId);
  }
}
