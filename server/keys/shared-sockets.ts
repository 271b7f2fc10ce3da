import type { Timers } from '../lib/timers.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { Exchange } from './exchange.ts';
import type { Seats } from './seats.ts';

export interface SharedSocketsParts {
  store: Pick<Store, 'run'>;
  /** Names this gateway, as its heartbeat does: what belongs to one that is gone does not count. */
  gateway: string;
  timers: Timers;
  logger: Logger;
}

/** A socket that has ended is told so soon, in milliseconds; so long a key that has none left is not asked for again. */
const tellAfter = 250;
/** What is open is told again so often, in milliseconds, should the database or the others have forgotten it. */
const repeatEvery = 5_000;

/**
 * Keeps one limit of open sockets over several gateways: a socket that finds no place of this gateway's waits until one
 * is claimed. While the store is away, a gateway opens what it has places for, or its equal share.
 */
export class SharedSockets {
  /** By the key whose allowance they draw on. */
  readonly seats = new Map<number, Seats>();
  readonly #parts: SharedSocketsParts;
  readonly #exchange: Exchange<Seats>;

  constructor(parts: SharedSocketsParts) {
    const { timers, logger } = parts;
    this.#parts = parts;
    this.#exchange = new Exchange({
      timers,
      logger,
      tell: (batch) => this.#tell(batch),
      decide: (seats, answer) => answer(this.#openAlone(seats)),
      tidy: () => this.#tidy(),
      tidyEveryMs: repeatEvery,
    });
  }

  start(): void {
    this.#exchange.start();
  }

  stop(): Promise<void> {
    return this.#exchange.stop();
  }

  /** Whether there is no place for one more, neither here nor anywhere else. */
  isFull(seats: Seats): boolean {
    if (this.covers(seats)) return false;
    return this.#exchange.away || seats.full || this.#parts.timers.monotonic() < seats.fullUntil;
  }

  /** Whether a socket may be opened without asking. */
  covers(seats: Seats): boolean {
    if (this.#exchange.away) return seats.open < this.#share(seats);
    return seats.open < Math.min(seats.places, seats.max);
  }

  /** Waits until it is known whether one more may be opened; it counts as open when it may. */
  ask(seats: Seats): Promise<boolean> {
    return this.#exchange.ask(seats);
  }

  /** One has ended. */
  ended(seats: Seats): void {
    seats.fullUntil = Number.NEGATIVE_INFINITY;
    if (seats.max > 0) this.#exchange.plan(seats, tellAfter);
  }

  #share({ places, max }: Seats): number {
    return Math.max(places, Math.ceil(max / (this.#exchange.gateways ?? 1)));
  }

  #openAlone(seats: Seats): boolean {
    if (seats.open >= this.#share(seats)) return false;
    seats.open += 1;
    return true;
  }

  async #tell(batch: readonly Seats[]): Promise<number> {
    const { store, gateway, timers } = this.#parts;
    const claims = batch.map((seats) => {
      const { tokenId, max, open } = seats;
      const wanted = open + seats.asked.length;
      // What is given up is not taken again meanwhile.
      seats.places = Math.min(seats.places, wanted);
      return { tokenId, max, open, wanted };
    });
    const { places, gateways } = await store.run('claimSockets', { gateway, claims });
    const results = new Map(places.map((one) => [one.tokenId, one.places]));
    for (const seats of batch) {
      seats.places = results.get(seats.tokenId) ?? 0;
      for (const answer of seats.asked.splice(0)) {
        const given = seats.open < seats.places;
        if (given) seats.open += 1;
        else seats.fullUntil = timers.monotonic() + tellAfter;
        answer(given);
      }
      if (seats.open < seats.places) this.#exchange.plan(seats, tellAfter);
    }
    return gateways;
  }

  #tidy(): void {
    const now = this.#parts.timers.monotonic();
    for (const seats of this.seats.values()) {
      const { tokenId, open, places, max, fullUntil } = seats;
      if (open > 0 ? max > 0 : places > 0) this.#exchange.plan(seats, 0);
      else if (open === 0 && fullUntil < now && !this.#exchange.has(seats)) this.seats.delete(tokenId);
    }
  }
}
