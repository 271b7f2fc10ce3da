/** Calls back once after a time without `restart`. */
export class Countdown {
  readonly #milliseconds: number;
  readonly #expire: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(milliseconds: number, expire: () => void) {
    this.#milliseconds = milliseconds;
    this.#expire = expire;
  }

  restart(): void {
    this.stop();
    this.#timer = setTimeout(this.#expire, this.#milliseconds).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
