import type { Logger } from '../telemetry/logger.ts';

type Part = { stop(): Promise<void> | void } | { close(): Promise<void> | void };

/** The parts of a process in the order of their start. They stop in reverse order. */
export class Container {
  readonly #logger: Logger;
  readonly #parts: { name: string; part: Part }[] = [];

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Adds a part that is open, or that is started later. Returns it. */
  add<Added extends Part | undefined>(name: string, part: Added): Added {
    if (part !== undefined) this.#parts.push({ name, part });
    return part;
  }

  /** Adds and starts a part. It is also stopped when its start fails. */
  async start<Result>(name: string, part: Part & { start(): Result | Promise<Result> }): Promise<Result> {
    this.add(name, part);
    return part.start();
  }

  /** Stops every part. Logs errors and continues with the next part. */
  async stop(): Promise<void> {
    for (let entry = this.#parts.pop(); entry !== undefined; entry = this.#parts.pop()) {
      const { name, part } = entry;
      try {
        await ('stop' in part ? part.stop() : part.close());
      } catch (error) {
        this.#logger.error({ err: error, part: name }, 'a part of the gateway failed to stop');
      }
    }
  }
}
