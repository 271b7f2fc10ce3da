import { Rounds } from '../lib/rounds.ts';
import type { Timers } from '../lib/timers.ts';
import { disabledChannels } from '../store/queries/channel-states.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Channels } from './channels.ts';

/** Milliseconds between two looks: what an admin does on one gateway holds on every other within a second. */
const lookEvery = 500;

interface ChannelStatesParts {
  store: Store;
  channels: Pick<Channels, 'disable'>;
  timers: Timers;
  logger: Logger;
}

/** Keeps the channels that an admin has disabled, on whichever gateway, out of the selection. */
export class ChannelStates {
  readonly #parts: ChannelStatesParts;
  readonly #rounds: Rounds;
  #last: Promise<void> = Promise.resolve();
  #failing = false;

  constructor(parts: ChannelStatesParts) {
    this.#parts = parts;
    this.#rounds = new Rounds(parts.timers);
  }

  /** Resolves when what is disabled is known. */
  async start(): Promise<void> {
    await this.look();
    const { logger } = this.#parts;
    this.#rounds.start(
      lookEvery,
      () => this.look(),
      (error) => {
        // A store that is away is told once, not twice a second.
        if (!this.#failing) logger.error({ err: error }, 'the states of channels could not be read');
        this.#failing = true;
      },
    );
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  /** Reads what is disabled now. One look after the other, so that an older one never has the last word. */
  look(): Promise<void> {
    const look = this.#last.then(async () => {
      const states = await disabledChannels(this.#parts.store.read);
      this.#parts.channels.disable(states);
      this.#failing = false;
    });
    this.#last = look.catch(() => {});
    return look;
  }
}
