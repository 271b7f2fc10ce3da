const tolerated = 3;
const firstPause = 5_000;
const maxPause = 60_000;

/** Keeps an upstream that fails again and again out of the selection for a while, twice as long each time. */
export class Health {
  readonly #clock: () => number;
  #failures = 0;
  #pausedUntil = 0;

  /** `clock` is the monotonic one. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  get healthy(): boolean {
    return this.#clock() >= this.#pausedUntil;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#pausedUntil = 0;
  }

  failed(): void {
    this.#failures += 1;
    if (this.#failures < tolerated) return;
    const pause = Math.min(maxPause, firstPause * 2 ** (this.#failures - tolerated));
    this.#pausedUntil = this.#clock() + pause;
  }
}
