/** Calls `onTimeout` when nothing arrives for `ms` milliseconds while responses are expected. */
export class ResponseTimer {
  readonly #ms: number;
  readonly #onTimeout: () => void;
  #expected = 0;
  #suspended = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number, onTimeout: () => void) {
    this.#ms = ms;
    this.#onTimeout = onTimeout;
  }

  expect(): void {
    this.#expected++;
    this.restart();
  }

  received(): void {
    this.#expected--;
    this.restart();
  }

  /** Restarts the timeout after any data. */
  restart(): void {
    clearTimeout(this.#timer);
    if (this.#expected > 0 && !this.#suspended) this.#timer = setTimeout(this.#onTimeout, this.#ms);
  }

  /** Stops the timeout while the client itself pauses the socket. */
  suspend(suspended: boolean): void {
    this.#suspended = suspended;
    this.restart();
  }

  end(): void {
    this.#expected = 0;
    clearTimeout(this.#timer);
  }
}
