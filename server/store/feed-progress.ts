/** How long a confirmation is valid, in milliseconds. It limits the effect of a connection that broke silently. */
const confirmedForMs = 1_000;
/** Longest time between two turns of the event loop that is not a pause, in milliseconds. */
const maxTurnMs = 200;
/** Time between two calls of `noteTurn`, in milliseconds. */
export const turnIntervalMs = 50;

/** Tracks whether all announced changes were delivered. After a pause, a round trip confirms that none waits unread in the socket. */
export class FeedProgress {
  /** Milliseconds, by a clock that continues during a pause. */
  readonly #now: () => number;
  #epoch = 0;
  #isConnected = false;
  #confirmedAt = Number.NEGATIVE_INFINITY;
  #turnAt: number;
  #resumedAt = Number.NEGATIVE_INFINITY;
  #pauses = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#turnAt = now();
  }

  /** Increments with each connection. Undefined while changes can be missed or unread. */
  get epoch(): number | undefined {
    const now = this.noteTurn();
    const isConfirmed = this.#isConnected && now - this.#confirmedAt < confirmedForMs;
    return isConfirmed && !this.isBehind ? this.#epoch : undefined;
  }

  get pauses(): number {
    this.noteTurn();
    return this.#pauses;
  }

  get isBehind(): boolean {
    this.noteTurn();
    return this.#confirmedAt < this.#resumedAt;
  }

  /** Records that the event loop runs, and detects pauses. Returns the time. */
  noteTurn(): number {
    const now = this.#now();
    if (now - this.#turnAt > maxTurnMs) {
      this.#resumedAt = now;
      this.#pauses += 1;
    }
    this.#turnAt = now;
    return now;
  }

  /** Starts a new epoch: a connection delivers all changes that are announced after `startedAt`. */
  connect(startedAt: number): void {
    this.#epoch += 1;
    this.#confirmedAt = startedAt;
    this.#isConnected = true;
  }

  /** Records that all changes that were announced before `startedAt` have been delivered. */
  confirm(startedAt: number): void {
    this.#confirmedAt = startedAt;
  }

  disconnect(): void {
    this.#isConnected = false;
  }
}
