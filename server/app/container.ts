import type { Logger } from '../telemetry/logger.ts';

/** The parts of a process in the order of their start. They stop in reverse order. */
export class Container {
  readonly #logger: Logger;
  readonly #stops: { name: string; stop: () => Promise<void> | void }[] = [];

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Starts a part. `stop` also runs when the start fails, then without the part. */
  async add<Part>(
    name: string,
    start: () => Part | Promise<Part>,
    stop: (part: Part | undefined) => Promise<void> | void,
  ): Promise<Part> {
    const running: { part?: Part } = {};
    this.#stops.push({ name, stop: () => stop(running.part) });
    running.part = await start();
    return running.part;
  }

  /** Stops every part. A part that fails to stop is logged and does not keep the others from stopping. */
  async stop(): Promise<void> {
    for (let entry = this.#stops.pop(); entry !== undefined; entry = this.#stops.pop()) {
      try {
        await entry.stop();
      } catch (error) {
        this.#logger.error({ err: error, part: entry.name }, 'a part of the gateway failed to stop');
      }
    }
  }
}
