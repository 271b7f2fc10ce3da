import { isDeepStrictEqual } from 'node:util';
import type { FileRelay } from '../media/file-relay.ts';
import type { ChannelProtocol } from '../settings/configuration.ts';
import { matcher } from '../settings/model-patterns.ts';
import type { ChannelSettings } from '../settings/settings.ts';
import type { ChannelState } from '../store/queries/channel-states.ts';
import { Channel } from './channel.ts';

interface Entry {
  channel: Channel;
  serves: (modelId: string) => boolean;
  /** Serves it by more than the pattern for everything. */
  lists: (modelId: string) => boolean;
}

/** All upstream accounts, and which of them may serve a request. */
export class Channels {
  #entries: readonly Entry[] = [];
  /** Those that were replaced or left out, and may still be at work. */
  #retired: readonly Channel[] = [];
  readonly #clock: () => number;
  readonly #random: () => number;
  readonly #files: FileRelay | undefined;
  #disabled: ReadonlyMap<string, ChannelState> = new Map();

  /** `clock` is the monotonic one; `random` gives numbers from 0 up to 1, for the choice by weight. */
  constructor(
    settings: readonly ChannelSettings[],
    clock: () => number,
    random: () => number = Math.random,
    files?: FileRelay,
  ) {
    this.#clock = clock;
    this.#random = random;
    this.#files = files;
    this.apply(settings);
  }

  /**
   * From now on these are the channels. One whose settings are the same stays as it is, with its connections, health
   * and slots; what goes by another one ends as it began.
   */
  apply(settings: readonly ChannelSettings[]): void {
    const before = new Set(this.#entries);
    const kept = (one: ChannelSettings) => {
      const same = [...before].find(({ channel }) => isDeepStrictEqual(channel.settings, one));
      if (same !== undefined) before.delete(same);
      return same;
    };
    this.#entries = settings.map((one) => kept(one) ?? this.#entryOf(one));
    const gone = [...before].map(({ channel }) => channel);
    for (const channel of gone) channel.retire();
    this.#retired = [...this.#retired, ...gone].filter(({ idle }) => !idle);
  }

  #entryOf(settings: ChannelSettings): Entry {
    const ids = settings.models.map(({ id }) => id);
    return {
      channel: new Channel(settings, this.#clock, undefined, this.#files),
      serves: matcher(ids),
      lists: matcher(ids.filter((id) => id !== '*')),
    };
  }

  /** In the order of the configuration. */
  get all(): readonly Channel[] {
    return this.#entries.map(({ channel }) => channel);
  }

  /** From now on these get no new work; whatever they have goes on. */
  disable(states: readonly ChannelState[]): void {
    this.#disabled = new Map(states.map((state) => [state.channel, state]));
  }

  /** Who has disabled a channel, when and why; undefined: nobody has. */
  disabled(name: string): ChannelState | undefined {
    return this.#disabled.get(name);
  }

  get names(): readonly string[] {
    return this.#entries.map(({ channel }) => channel.name);
  }

  /** The channels that serve a model to a group, in no order, without the disabled ones. */
  serving(protocol: ChannelProtocol, modelId: string, group: string): Channel[] {
    return this.#entries
      .filter(
        (entry) => entry.channel.settings.protocol === protocol && this.#mayServe(entry, modelId, group),
      )
      .map(({ channel }) => channel);
  }

  /** Whether a channel of the protocol names the model, be it by a pattern: so a model beyond the catalogue is known. */
  lists(protocol: ChannelProtocol, modelId: string): boolean {
    return this.#entries.some(
      ({ channel, lists }) => channel.settings.protocol === protocol && lists(modelId),
    );
  }

  /** The models that channels of a protocol name by their whole ids. */
  namedModels(protocol: ChannelProtocol): string[] {
    const ids = this.#entries
      .filter(({ channel }) => channel.settings.protocol === protocol)
      .flatMap(({ channel }) => channel.settings.models.map(({ id }) => id));
    return [...new Set(ids)].filter((id) => !id.includes('*'));
  }

  /** Whether any channel serves the model to the group, by whatever protocol. */
  serves(modelId: string, group: string): boolean {
    return this.#entries.some((entry) => this.#mayServe(entry, modelId, group));
  }

  #mayServe({ channel: { settings }, serves }: Entry, modelId: string, group: string): boolean {
    const open = settings.groups === undefined || settings.groups.includes(group);
    return open && serves(modelId) && !this.#disabled.has(settings.name);
  }

  /** What the providers call a model. */
  upstreamNames(modelId: string): string[] {
    return [...new Set(this.#entries.map(({ channel }) => channel.upstreamModel(modelId)))];
  }

  /** The channel of that name; undefined when the configuration has it no more. */
  named(name: string): Channel | undefined {
    return this.#entries.find(({ channel }) => channel.name === name)?.channel;
  }

  /** The order to try channels in: healthy ones first, by priority, within one priority drawn by weight. */
  order(candidates: readonly Channel[]): Channel[] {
    if (candidates.length < 2) return [...candidates];
    return candidates
      .map((channel) => ({
        channel,
        healthy: channel.health.healthy ? 1 : 0,
        // The k-th of exponential draws with rate = weight is a fair draw without replacement.
        draw: -Math.log(1 - this.#random()) / channel.settings.weight,
      }))
      .sort(
        (left, right) =>
          right.healthy - left.healthy ||
          right.channel.settings.priority - left.channel.settings.priority ||
          left.draw - right.draw,
      )
      .map(({ channel }) => channel);
  }

  async close(): Promise<void> {
    const all = [...this.#entries.map(({ channel }) => channel), ...this.#retired];
    await Promise.all(all.map((channel) => channel.close()));
  }
}
