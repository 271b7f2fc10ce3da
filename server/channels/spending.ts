import { PeriodicTask } from '../lib/periodic-task.ts';
import type { Timers } from '../lib/timers.ts';
import { dayMs, dayOf } from '../store/log-days.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

interface ChannelSpendingParts {
  store: Pick<Store, 'report'>;
  /** Epoch milliseconds. A day is one of UTC. */
  clock: () => number;
  timers: Timers;
  logger: Logger;
}

/** Interval at which the spending of other gateways is read, in milliseconds. */
const refreshIntervalMs = 5_000;

/**
 * Counts the quota that channels with a limit spend each day: the costs of their work, the charges where no cost is known, and the
 * reservations of unfinished tasks. Work of this gateway counts at once, work of others after the next refresh.
 */
export class ChannelSpending {
  readonly #parts: ChannelSpendingParts;
  readonly #periodicTask: PeriodicTask;
  /** Names of the channels with a limit. */
  #channels: readonly string[] = [];
  #day: number;
  #stored: ReadonlyMap<string, number> = new Map();
  /** Spending that the last read may lack. */
  #added = new Map<string, number>();
  #last: Promise<void> = Promise.resolve();
  #isStarted = false;
  #failing = false;

  constructor(parts: ChannelSpendingParts) {
    this.#parts = parts;
    this.#day = dayOf(parts.clock());
    this.#periodicTask = new PeriodicTask(parts.timers);
  }

  /** Resolves after the first read. */
  async start(): Promise<void> {
    await this.refresh();
    this.#isStarted = true;
    this.#periodicTask.start(refreshIntervalMs, () => this.refresh(), this.#onError);
  }

  stop(): Promise<void> {
    return this.#periodicTask.stop();
  }

  /** Sets the channels whose spending is read. */
  apply(channels: readonly string[]): void {
    const isNew = channels.some((name) => !this.#channels.includes(name));
    this.#channels = channels;
    if (isNew && this.#isStarted) void this.refresh().catch(this.#onError);
  }

  /** Counts the cost of work on the channel, or its charge if no cost is known, after the charge is on disk. */
  record(channel: string, quota: number): void {
    this.#startDay();
    if (this.#channels.includes(channel)) this.#added.set(channel, (this.#added.get(channel) ?? 0) + quota);
  }

  /** Quota that the channel spent today. */
  of(channel: string): number {
    this.#startDay();
    return (this.#stored.get(channel) ?? 0) + (this.#added.get(channel) ?? 0);
  }

  get msUntilTomorrow(): number {
    const now = this.#parts.clock();
    return (dayOf(now) + 1) * dayMs - now;
  }

  /** Reads the spending of all gateways. Reads run one after the other. */
  refresh(): Promise<void> {
    const read = this.#last.then(() => this.#read());
    this.#last = read.catch(() => {});
    return read;
  }

  async #read(): Promise<void> {
    this.#startDay();
    if (this.#channels.length === 0) return;
    const day = this.#day;
    const before = this.#added;
    this.#added = new Map();
    try {
      const query = { channels: this.#channels, since: (day * dayMs) / 1_000 };
      const spent = await this.#parts.store.report('sumChannelSpending', query);
      if (this.#day === day) this.#stored = new Map(spent.map(({ channel, quota }) => [channel, quota]));
      this.#failing = false;
    } catch (error) {
      if (this.#day === day) for (const [channel, quota] of before) this.record(channel, quota);
      throw error;
    }
  }

  #startDay(): void {
    const day = dayOf(this.#parts.clock());
    if (day === this.#day) return;
    this.#day = day;
    this.#stored = new Map();
    this.#added = new Map();
  }

  readonly #onError = (error: unknown): void => {
    // An unavailable store is logged once.
    if (!this.#failing) this.#parts.logger.error({ err: error }, 'could not read the spending of channels');
    this.#failing = true;
  };
}
