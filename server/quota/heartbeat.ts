import type { Alarm, Timers } from '../lib/timers.ts';
import { StoreUnavailable } from '../store/availability.ts';
import type { Beat, Freed } from '../store/commands/gateways.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface HeartbeatOptions {
  store: Store;
  /** Names this gateway in what it holds: the leases of its work and the holds of its requests. */
  id: string;
  logger: Logger;
  timers: Timers;
  /** Epoch milliseconds. */
  clock: () => number;
  /** Milliseconds between two beats. */
  intervalMs?: number;
  /** A gateway is gone after so many intervals without a beat. */
  maxMissed?: number;
}

/**
 * Shows the gateways that share a database that this one runs, and finds out when another does not: what that one held
 * is given back then. It counts its own looks and compares no clocks, so it matters neither what time a machine
 * believes it is nor for how long the store could not be asked. On SQLite there is only one gateway at a time, so
 * whatever earlier ones held is given back at the start.
 */
export class Heartbeat {
  readonly #options: Required<HeartbeatOptions>;
  /** The others as they were at the latest look, and how many looks have found no new beat. */
  #others = new Map<string, Beat & { silent: number }>();
  #beat = 0;
  #era = 0;
  /** No other can have missed enough beats before, by the monotonic clock. */
  #soundUntil = Number.POSITIVE_INFINITY;
  #alarm: Alarm | undefined;
  #round: Promise<void> = Promise.resolve();
  #freeing: Promise<void> | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = { intervalMs: 1_000, maxMissed: 5, ...options };
  }

  /** Whether no other gateway can have taken this one for gone. */
  get sound(): boolean {
    return this.#options.timers.monotonic() < this.#soundUntil;
  }

  /** Grows when the others took this one for gone: what it held before may be given back. */
  get era(): number {
    return this.#era;
  }

  /** To call before this gateway holds anything. Gives what earlier gateways held that was given back. */
  async start(): Promise<Freed> {
    const { store, id, clock, timers, intervalMs, logger } = this.#options;
    const alone = store.engine === 'sqlite';
    if (!alone) this.#beatAt(timers.monotonic());
    await store.run('beat', { id, beat: this.#beat, alone });
    const freed = await store.run('freeOrphans', { now: clock(), dueNow: timers.monotonic() });
    if (!alone) {
      this.#alarm = timers.alarm(intervalMs, () => {
        this.#round = this.#look()
          .catch((error: unknown) => {
            // An absent store is logged once, by itself.
            if (!(error instanceof StoreUnavailable)) logger.error({ err: error }, 'the heartbeat failed');
          })
          .then(() => this.#alarm?.refresh());
      });
    }
    return freed;
  }

  /** To call when this gateway holds nothing any more. */
  async stop(): Promise<void> {
    const { store, id, logger } = this.#options;
    this.#alarm?.cancel();
    this.#alarm = undefined;
    await this.#round;
    await this.#freeing;
    try {
      await store.run('removeGateway', { id, beat: null });
    } catch (error) {
      logger.warn({ err: error }, 'this gateway could not sign off: the others will find it gone');
    }
  }

  /** The others need `maxMissed` looks after they have seen the beat; one is left out, since their clocks may run faster. */
  #beatAt(time: number): void {
    const { intervalMs, maxMissed } = this.#options;
    this.#soundUntil = time + intervalMs * (maxMissed - 1);
  }

  async #look(): Promise<void> {
    const { store, id, maxMissed, logger, timers } = this.#options;
    this.#beat += 1;
    const at = timers.monotonic();
    const { missed, others } = await store.run('beat', { id, beat: this.#beat });
    if (missed) this.#era += 1;
    this.#beatAt(at);
    if (missed) logger.warn({ gateway: id }, 'the others took this gateway for gone');
    const before = this.#others;
    this.#others = new Map(others.map((other) => [other.id, { ...other, silent: silence(other, before) }]));
    for (const other of this.#others.values()) {
      if (other.silent < maxMissed) continue;
      if (await store.run('removeGateway', other)) logger.warn({ gateway: other.id }, 'a gateway is gone');
    }
    // Not waited for: what may have to wait for others' locks must not keep this one from beating.
    this.#freeing ??= this.#free().finally(() => {
      this.#freeing = undefined;
    });
  }

  /** Every time, not only after a removal: another may have removed one and not come further. */
  async #free(): Promise<void> {
    const { store, clock, timers, logger } = this.#options;
    try {
      const freed = await store.run('freeOrphans', { now: clock(), dueNow: timers.monotonic() });
      if (Object.values(freed).some((count) => count > 0))
        logger.warn(freed, 'gave back what a gateway held');
    } catch (error) {
      if (error instanceof StoreUnavailable) return;
      logger.error({ err: error }, 'what gateways held that are gone could not be given back');
    }
  }
}

function silence({ id, beat }: Beat, before: ReadonlyMap<string, { beat: number; silent: number }>): number {
  const seen = before.get(id);
  return seen?.beat === beat ? seen.silent + 1 : 0;
}
