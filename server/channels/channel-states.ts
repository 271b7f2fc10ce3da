import { PeriodicTask } from '../lib/periodic-task.ts';
import type { Timers } from '../lib/timers.ts';
import { disabledChannels } from '../store/queries/channel-states.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Channels } from './channels.ts';

/** An admin's change on one gateway applies to all others within a second. */
const refreshIntervalMs = 500;

interface ChannelStatesParts {
  store: Store;
  channels: Pick<Channels, 'disable'>;
  timers: Timers;
  logger: Logger;
}

/** Disables channels that an admin has disabled on this or another gateway. */
export class ChannelStates {
  readonly #parts: ChannelStatesParts;
  readonly #periodicTask: PeriodicTask;
  #last: Promise<void> = Promise.resolve();
  #failing = false;

  constructor(parts: ChannelStatesParts) {
    this.#parts = parts;
    this.#periodicTask = new PeriodicTask(parts.timers);
  }

  /** Resolves after the first read. */
  async start(): Promise<void> {
    await this.refresh();
    const { logger } = this.#parts;
    this.#periodicTask.start(
      refreshIntervalMs,
      () => this.refresh(),
      (error) => {
        // An unavailable store is logged once, not twice a second.
        if (!this.#failing) logger.error({ err: error }, 'could not read the states of channels');
        this.#failing = true;
      },
    );
  }

  stop(): Promise<void> {
    return this.#periodicTask.stop();
  }

  /** Reads the disabled channels. Reads run one after the other, so that a newer result always wins. */
  refresh(): Promise<void> {
    const read = this.#last.then(async () => {
      const states = await disabledChannels(this.#parts.store.read);
      this.#parts.channels.disable(states);
      this.#failing = false;
    });
    this.#last = read.catch(() => {});
    return read;
  }
}
