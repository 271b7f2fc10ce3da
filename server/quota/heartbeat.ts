import { PeriodicTask } from '../lib/periodic-task.ts';
import type { Timers } from '../lib/timers.ts';
import { StoreUnavailable } from '../store/availability.ts';
import type { Heartbeat as GatewayHeartbeat, Released } from '../store/commands/gateways.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface HeartbeatOptions {
  store: Store;
  /** Id of this gateway. Its claims, leases and reservations carry it. */
  id: string;
  logger: Logger;
  timers: Timers;
  /** Epoch milliseconds. */
  clock: () => number;
  /** Interval of heartbeats, in milliseconds. Default: 1,000. */
  intervalMs?: number;
  /** Intervals without a heartbeat after which a gateway is removed. Default: 5. */
  maxMissed?: number;
}

/**
 * Announces this gateway to the others that share its database, and removes gateways that stop announcing themselves.
 * Claims, leases and reservations of a removed gateway are released. It counts its own polls and compares no clocks, so
 * neither clock skew nor an unavailable store removes a live gateway. SQLite allows only one gateway, so the start
 * releases everything of earlier ones.
 */
export class Heartbeat {
  readonly #options: Required<HeartbeatOptions>;
  /** Other gateways at the last poll, with the number of polls without a new heartbeat. */
  #others = new Map<string, GatewayHeartbeat & { missed: number }>();
  #heartbeat = 0;
  #epoch = 0;
  /** End of the time in which no other gateway can have removed this one, by the monotonic clock. */
  #memberUntil = Number.POSITIVE_INFINITY;
  readonly #polling: PeriodicTask;
  #releasing: Promise<void> | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = { intervalMs: 1_000, maxMissed: 5, ...options };
    this.#polling = new PeriodicTask(options.timers);
  }

  /** Whether no other gateway can have removed this one yet. */
  get isMember(): boolean {
    return this.#options.timers.monotonic() < this.#memberUntil;
  }

  /** Increments when the others removed this gateway. They may have released everything it had before. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Registers this gateway and returns counts of what it released of lost gateways. Call it before any reservation. */
  async start(): Promise<Released> {
    const { store, id, clock, timers, intervalMs, logger } = this.#options;
    const alone = store.engine === 'sqlite';
    if (!alone) this.#renewAt(timers.monotonic());
    await store.run('recordHeartbeat', { id, heartbeat: this.#heartbeat, alone });
    const released = await store.run('releaseOrphans', { now: clock(), dueNow: timers.monotonic() });
    const onError = (error: unknown) => {
      // The store logs its own absence once.
      if (!(error instanceof StoreUnavailable)) logger.error({ err: error }, 'the heartbeat failed');
    };
    if (!alone) this.#polling.start(intervalMs, () => this.#poll(), onError);
    return released;
  }

  /** Deregisters this gateway. Call it when it has no claim, lease or reservation. */
  async stop(): Promise<void> {
    const { store, id, logger } = this.#options;
    await this.#polling.stop();
    await this.#releasing;
    try {
      await store.run('removeGateway', { id, heartbeat: null });
    } catch (error) {
      logger.warn({ err: error }, 'this gateway could not be deregistered; the others will remove it');
    }
  }

  /** Others remove a gateway after `maxMissed` intervals. One interval is a margin for clocks that run faster. */
  #renewAt(time: number): void {
    const { intervalMs, maxMissed } = this.#options;
    this.#memberUntil = time + intervalMs * (maxMissed - 1);
  }

  async #poll(): Promise<void> {
    const { store, id, maxMissed, logger, timers } = this.#options;
    this.#heartbeat += 1;
    const at = timers.monotonic();
    const { missed, others } = await store.run('recordHeartbeat', { id, heartbeat: this.#heartbeat });
    if (missed) this.#epoch += 1;
    this.#renewAt(at);
    if (missed) logger.warn({ gateway: id }, 'another gateway has removed this one for missed heartbeats');
    const before = this.#others;
    this.#others = new Map(
      others.map((other) => [other.id, { ...other, missed: missedHeartbeats(other, before) }]),
    );
    for (const other of this.#others.values()) {
      if (other.missed < maxMissed) continue;
      if (await store.run('removeGateway', other))
        logger.warn({ gateway: other.id }, 'a gateway was removed for missed heartbeats');
    }
    // Not awaited, because locks of other gateways must not delay the next heartbeat.
    this.#releasing ??= this.#release().finally(() => {
      this.#releasing = undefined;
    });
  }

  /** Runs after every poll, because another gateway may have ended between a removal and its release. */
  async #release(): Promise<void> {
    const { store, clock, timers, logger } = this.#options;
    try {
      const released = await store.run('releaseOrphans', { now: clock(), dueNow: timers.monotonic() });
      if (Object.values(released).some((count) => count > 0))
        logger.warn(released, 'released what a lost gateway had reserved or claimed');
    } catch (error) {
      if (error instanceof StoreUnavailable) return;
      logger.error({ err: error }, 'reservations and claims of lost gateways could not be released');
    }
  }
}

function missedHeartbeats(
  { id, heartbeat }: GatewayHeartbeat,
  before: ReadonlyMap<string, { heartbeat: number; missed: number }>,
): number {
  const seen = before.get(id);
  return seen?.heartbeat === heartbeat ? seen.missed + 1 : 0;
}
