import { PeriodicTask } from '../lib/periodic-task.ts';
import type { Timers } from '../lib/timers.ts';
import { otherCoolDowns } from '../store/queries/channel-health.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Channel } from './channel.ts';
import { failureKinds } from './failure-kinds.ts';

interface HealthSharingParts {
  store: Pick<Store, 'run' | 'read'>;
  /** Id of this gateway, as in its heartbeat. */
  gateway: string;
  channels: { readonly all: readonly Channel[] };
  timers: Timers;
  logger: Logger;
}

/** A cool-down on one gateway reaches all others within a second. */
const intervalMs = 500;

/** Shares the cool-downs of channels among the gateways of a PostgreSQL database. */
export class HealthSharing {
  readonly #parts: HealthSharingParts;
  readonly #periodicTask: PeriodicTask;
  /** Shared cool-downs: the end of each by channel. */
  #shared = '';
  #failing = false;

  constructor(parts: HealthSharingParts) {
    this.#parts = parts;
    this.#periodicTask = new PeriodicTask(parts.timers);
  }

  start(): void {
    this.#periodicTask.start(
      intervalMs,
      () => this.refresh(),
      (error) => {
        // An unavailable store is logged once.
        if (!this.#failing)
          this.#parts.logger.error({ err: error }, 'the health of channels could not be shared');
        this.#failing = true;
      },
    );
  }

  stop(): Promise<void> {
    return this.#periodicTask.stop();
  }

  /** Shares the cool-downs of this gateway if they changed, and reads those of the others. */
  async refresh(): Promise<void> {
    const { store, gateway, channels, timers } = this.#parts;
    const now = timers.monotonic();
    const resting = channels.all.flatMap(
      ({ name, health: { coolDownUntil: until, unhealthyReason: reason } }) =>
        until === undefined || reason === undefined ? [] : { channel: name, until, reason },
    );
    const current = JSON.stringify(resting);
    if (current !== this.#shared && !(this.#shared === '' && resting.length === 0)) {
      const rows = resting.map(({ channel, until, reason }) => ({ channel, ms: until - now, reason }));
      await store.run('shareChannelHealth', { gateway, resting: rows });
      this.#shared = current;
    }
    const reports = Map.groupBy(await otherCoolDowns(store.read, gateway), ({ channel }) => channel);
    for (const { name, health } of channels.all)
      health.receiveReports(
        (reports.get(name) ?? []).map(({ gateway: other, resting_until: id, ms, reason }) => ({
          id: `${other} ${id}`,
          until: timers.monotonic() + ms,
          // A later version may have other kinds.
          reason: failureKinds.find((kind) => kind === reason) ?? 'server_error',
        })),
      );
    this.#failing = false;
  }
}
