/** Parts of a gateway that start after its maintenance mode. Each starts once, also if the start of another one fails. */
export class DeferredStart {
  readonly #pending: (() => Promise<unknown>)[];
  #running: Promise<void> | undefined;

  /** `starts`: functions that start a part, or reject without having started it. */
  constructor(starts: readonly (() => Promise<unknown>)[]) {
    this.#pending = [...starts];
  }

  /** Starts the parts that have not started. Concurrent calls share one run. Rejects with the error of a part. */
  run(): Promise<void> {
    this.#running ??= this.#start().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #start(): Promise<void> {
    for (let start = this.#pending[0]; start !== undefined; start = this.#pending[0]) {
      await start();
      this.#pending.shift();
    }
  }
}
