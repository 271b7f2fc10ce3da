import { isDeepStrictEqual } from 'node:util';
import type { FileRelay } from '../media/file-relay.ts';
import type { ChannelProtocol } from '../settings/configuration.ts';
import type { ChannelSettings } from '../settings/settings.ts';
import type { ChannelState } from '../store/queries/channel-states.ts';
import type { Logger } from '../telemetry/logger.ts';
import { Channel } from './channel.ts';
import { ChannelLimiter, type LimiterParts } from './limits.ts';

/** All upstream accounts. Selects those that may serve a request. */
export class Channels {
  #all: readonly Channel[] = [];
  /** Replaced or removed channels that may still have requests in flight. */
  #retired: readonly Channel[] = [];
  readonly #clock: () => number;
  readonly #random: () => number;
  readonly #files: FileRelay | undefined;
  readonly #limiterParts: LimiterParts | undefined;
  readonly #logger: Logger | undefined;
  /** By name. A limiter outlives its channel, whose calls may still be in progress. */
  readonly #limiters = new Map<string, ChannelLimiter>();
  #disabled: ReadonlyMap<string, ChannelState> = new Map();

  /** `clock` is the monotonic one. `random` returns numbers from 0 to below 1, for the choice by weight. */
  constructor(
    settings: readonly ChannelSettings[],
    clock: () => number,
    random: () => number = Math.random,
    files?: FileRelay,
    limiterParts?: LimiterParts,
    logger?: Logger,
  ) {
    this.#clock = clock;
    this.#random = random;
    this.#files = files;
    this.#limiterParts = limiterParts;
    this.#logger = logger;
    this.apply(settings);
  }

  /**
   * Replaces the channels. A channel whose settings are unchanged, apart from its limits and costs, keeps its connections, health and slots. Requests in
   * flight on a removed channel complete.
   */
  apply(settings: readonly ChannelSettings[]): void {
    const removed = new Set(this.#all);
    this.#all = settings.map((one) => {
      const limiter = this.#limiterOf(one);
      const unchanged = [...removed].find((channel) => isSameAccount(channel.settings, one));
      if (unchanged !== undefined) removed.delete(unchanged);
      return unchanged ?? new Channel(one, this.#clock, undefined, this.#files, limiter, this.#logger);
    });
    const limited = settings.filter(({ limits }) => limits?.spendPerDay !== undefined);
    this.#limiterParts?.spending.apply(limited.map(({ name }) => name));
    for (const channel of removed) channel.retire();
    this.#retired = [...this.#retired, ...removed].filter(({ isIdle }) => !isIdle);
  }

  #limiterOf({ name, limits = {} }: ChannelSettings): ChannelLimiter {
    const limiter = this.#limiters.getOrInsertComputed(
      name,
      () => new ChannelLimiter(name, limits, this.#limiterParts),
    );
    limiter.apply(limits);
    return limiter;
  }

  /** Counts quota that finished work on the channel cost. */
  recordSpend(channel: string, quota: number): void {
    this.#limiterParts?.spending.record(channel, quota);
  }

  /** In the order of the configuration. */
  get all(): readonly Channel[] {
    return this.#all;
  }

  /** Stops new requests to these channels. Requests in flight continue. */
  disable(states: readonly ChannelState[]): void {
    this.#disabled = new Map(states.map((state) => [state.channel, state]));
  }

  /** The admin who disabled the channel, with the time and the reason. Undefined for an enabled channel. */
  disabled(name: string): ChannelState | undefined {
    return this.#disabled.get(name);
  }

  isEnabled(name: string): boolean {
    return !this.#disabled.has(name);
  }

  get names(): readonly string[] {
    return this.#all.map(({ name }) => name);
  }

  /** Enabled channels that serve a model to a group, in no order. */
  serving(protocol: ChannelProtocol, modelId: string, group: string): Channel[] {
    return this.#all.filter(
      (channel) => channel.settings.protocol === protocol && this.#mayServe(channel, modelId, group),
    );
  }

  /** Whether a channel of the protocol lists a model that may be missing in the catalog. The pattern `*` lists none. */
  lists(protocol: ChannelProtocol, modelId: string): boolean {
    return this.#all.some((channel) => channel.settings.protocol === protocol && channel.lists(modelId));
  }

  /** Models that channels of a protocol list by full id. */
  namedModels(protocol: ChannelProtocol): string[] {
    const ids = this.#all
      .filter(({ settings }) => settings.protocol === protocol)
      .flatMap(({ settings }) => settings.models.map(({ id }) => id));
    return [...new Set(ids)].filter((id) => !id.includes('*'));
  }

  /** Whether a channel of any protocol serves the model to the group. */
  serves(modelId: string, group: string): boolean {
    return this.#all.some((channel) => this.#mayServe(channel, modelId, group));
  }

  #mayServe(channel: Channel, modelId: string, group: string): boolean {
    const { groups, name } = channel.settings;
    const isOpen = groups === undefined || groups.includes(group);
    return isOpen && channel.serves(modelId) && !this.#disabled.has(name);
  }

  /** The providers' names of a model. */
  upstreamNames(modelId: string): string[] {
    return [...new Set(this.#all.map((channel) => channel.upstreamModel(modelId)))];
  }

  /** The channel with that name. Undefined if the configuration no longer has it. */
  named(name: string): Channel | undefined {
    return this.#all.find((channel) => channel.name === name);
  }

  /** Sorts channels: healthy ones first, then by priority, then by a random draw by weight. */
  order(candidates: readonly Channel[]): Channel[] {
    if (candidates.length < 2) return [...candidates];
    return candidates
      .map((channel) => ({
        channel,
        healthy: channel.health.isHealthy ? 1 : 0,
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
    await Promise.all([...this.#all, ...this.#retired].map((channel) => channel.close()));
  }
}

/** Whether two settings differ in nothing but limits. */
function isSameAccount(left: ChannelSettings, right: ChannelSettings): boolean {
  const unrelated = { limits: undefined, costs: undefined };
  return isDeepStrictEqual({ ...left, ...unrelated }, { ...right, ...unrelated });
}
