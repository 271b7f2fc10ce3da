/** Calls `over` when nothing has come for `ms` milliseconds although the gateway owes something. */
export class SilenceTimer {
  readonly #ms: number;
  readonly #over: () => void;
  #owed = 0;
  #suspended = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number, over: () => void) {
    this.#ms = ms;
    this.#over = over;
  }

  owe(): void {
    this.#owed++;
    this.touch();
  }

  settle(): void {
    this.#owed--;
    this.touch();
  }

  /** Something has come. */
  touch(): void {
    clearTimeout(this.#timer);
    if (this.#owed > 0 && !this.#suspended) this.#timer = setTimeout(this.#over, this.#ms);
  }

  /** While the socket is held back, silence is our own doing. */
  suspend(suspended: boolean): void {
    this.#suspended = suspended;
    this.touch();
  }

  end(): void {
    this.#owed = 0;
    clearTimeout(this.#timer);
  }
}
