import { Failure } from '../lib/failure.ts';
import { allowancesOf, type KeyLimits, limitsOf } from './allowances.ts';
import type { Caller } from './caller.ts';
import { Seats } from './seats.ts';
import type { SharedSockets } from './shared-sockets.ts';

export interface SocketLimitParts {
  /** What is configured now. */
  limits: () => KeyLimits;
  /** How several gateways keep one limit; left out: there is one gateway. */
  shared?: SharedSockets | undefined;
}

/** So many open sockets for each key. */
export class SocketLimit {
  readonly #parts: SocketLimitParts;
  readonly #seats: Map<number, Seats>;

  constructor(parts: SocketLimitParts) {
    this.#parts = parts;
    this.#seats = parts.shared?.seats ?? new Map<number, Seats>();
  }

  /**
   * Takes a place for a socket; the function that it gives gives it back. A promise is given where the other gateways
   * have to be asked, which takes a second at the most.
   *
   * @throws Failure 429 when the key has as many open as it may
   */
  take(caller: Pick<Caller, 'tokenId' | 'allowances'>): (() => void) | Promise<() => void> {
    const { shared } = this.#parts;
    const limits = new Map(
      limitsOf(caller, 'sockets', this.#parts.limits()).map(({ tokenId, max }) => [tokenId, max]),
    );
    // Also where nothing limits them now, since that may change.
    const all = allowancesOf(caller).map(({ tokenId }) => this.#seatsOf(tokenId, limits.get(tokenId) ?? 0));
    const limited = all.filter(({ max }) => max > 0);
    const full = limited.find((seats) => shared?.isFull(seats) ?? seats.full);
    if (full !== undefined) {
      for (const seats of all) this.#forgetEmpty(seats);
      throw refusal(full);
    }
    const asked = shared === undefined ? [] : limited.filter((seats) => !shared.covers(seats));
    for (const seats of all) if (!asked.includes(seats)) seats.open += 1;
    if (shared === undefined || asked.length === 0) return () => this.#leave(all);
    return this.#takeAsked(shared, all, asked);
  }

  /** Keys that are remembered, because sockets of theirs are open. */
  get size(): number {
    return this.#seats.size;
  }

  async #takeAsked(
    shared: SharedSockets,
    all: readonly Seats[],
    asked: readonly Seats[],
  ): Promise<() => void> {
    const given = await Promise.all(asked.map((seats) => shared.ask(seats)));
    const refused = asked.filter((_, index) => given[index] === false);
    const [full] = refused;
    if (full === undefined) return () => this.#leave(all);
    this.#leave(all.filter((seats) => !refused.includes(seats)));
    throw refusal(full);
  }

  #seatsOf(tokenId: number, max: number): Seats {
    const seats = this.#seats.get(tokenId) ?? new Seats(tokenId);
    this.#seats.set(tokenId, seats);
    seats.max = max;
    return seats;
  }

  #leave(all: readonly Seats[]): void {
    for (const seats of all) {
      seats.open -= 1;
      this.#parts.shared?.ended(seats);
      this.#forgetEmpty(seats);
    }
  }

  #forgetEmpty({ open, tokenId }: Seats): void {
    // Shared ones are still to be told of.
    if (this.#parts.shared === undefined && open === 0) this.#seats.delete(tokenId);
  }
}

function refusal({ max }: Seats): Failure {
  const message = `This key has ${max} sockets open, which is its limit; close one first.`;
  return new Failure(429, 'rate_limit_exceeded', message, { retryAfter: 1 });
}
