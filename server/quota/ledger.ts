import type { Unit } from '../models/usage.ts';
import { StoreUnavailable } from '../store/availability.ts';
import type { ExtendResult, ReserveResult, Settlement } from '../store/commands/ledger.ts';
import type { LogEntry } from '../store/commands/log-entries.ts';
import type { ReservationKind } from '../store/schema.ts';
import { persist, type Store } from '../store/store.ts';

export interface ReserveRequest {
  /** Names the reservation, and is never used again: one request id can be reserved, settled or refunded once. */
  requestId: string;
  /** `unlimited`: it is known to have no limit. */
  token: { id: number; userId: number; unlimited?: boolean };
  model: string;
  unit: Unit;
  /** Quota to hold, a whole number from 0. */
  amount: number;
  /** `task` reservations outlive a gateway; those of `request` go back when it is gone. Default `request`. */
  kind?: ReservationKind;
}

/** What became of quota that a lease had for something: `taken` out of it, `kept` in it, or there was no such lease. */
export type Drawn = 'taken' | 'kept' | 'no_lease';

/** Where what is written down by itself, as tasks are, has its quota from. */
export interface QuotaSource {
  /**
   * Tries something that takes quota from a key's balance, and again when gateways have given back what they had of the key,
   * where `isRefused` says that it lacked.
   */
  reclaiming<T>(
    tokenId: number,
    amount: number,
    attempt: () => Promise<T>,
    isRefused: (outcome: T) => boolean,
  ): Promise<T>;
  /**
   * Tries something that takes an amount out of a lease on disk, which nothing else has a claim to meanwhile; `drawnBy` says
   * whether it has. Undefined: nothing is leased of the key that would cover it, so it is to be taken from its balance.
   */
  fromLease<T>(
    tokenId: number,
    amount: number,
    attempt: (lease: string) => Promise<T>,
    drawnBy: (outcome: T) => Drawn,
  ): Promise<T | undefined>;
}

export interface Extension {
  requestId: string;
  /** Whose it is, so that what gateways have of the key's quota can be asked back. */
  tokenId?: number;
  /** The key is known to have no limit still. */
  unlimited?: boolean;
  from: number;
  to: number;
}

/** A settlement whose cost no quota of its key covered. */
export interface Shortfall extends Settlement {
  requestId: string;
}

export interface SettleRequest {
  requestId: string;
  /** Quota that the work costs. */
  charged: number;
  log: LogEntry;
}

/** What quota is held and charged with. */
export interface Holds {
  /** Holds quota before any work is done. Unlimited keys always have enough. */
  reserve(request: ReserveRequest): Promise<ReserveResult>;
  /**
   * Raises a reservation that holds `from` to `to`. Without enough quota it keeps what it holds. `not_open` when it is
   * closed or does not hold `from`.
   */
  extend(request: Extension): Promise<ExtendResult>;
  /**
   * Charges the cost, also beyond the reservation as far as the balance covers it, and writes the log row in the same
   * transaction. The rest is a debt of the key. Waits for a store that is away. Undefined: the reservation was closed
   * before, or never existed.
   */
  settle(request: SettleRequest): Promise<Settlement | undefined>;
  /**
   * Gives everything back, with a log row of quota 0 when `log` is given. True the first time. When the store is
   * away, it is done as soon as it is back, and nobody waits for that.
   */
  refund(request: { requestId: string; log?: LogEntry }): Promise<boolean>;
}

/** The books, with every hold written down: what a key has left, what is held for running work, and what finished work cost. */
export class Ledger implements Holds {
  readonly #store: Store;
  readonly #gateway: string;
  readonly #clock: () => number;
  readonly #onShortfall: (shortfall: Shortfall) => void;

  /** `gateway` is the one whose requests these are; `clock` gives epoch milliseconds. */
  constructor(
    store: Store,
    gateway: string,
    clock: () => number = Date.now,
    onShortfall: (shortfall: Shortfall) => void = () => {},
  ) {
    this.#store = store;
    this.#gateway = gateway;
    this.#clock = clock;
    this.#onShortfall = onShortfall;
  }

  async reserve(request: ReserveRequest): Promise<ReserveResult> {
    const kind = request.kind ?? 'request';
    return this.#store.run('reserve', {
      requestId: request.requestId,
      tokenId: request.token.id,
      userId: request.token.userId,
      model: request.model,
      unit: request.unit,
      amount: quota('amount', request.amount),
      kind,
      gateway: kind === 'request' ? this.#gateway : null,
      now: this.#clock(),
    });
  }

  async extend(request: Extension): Promise<ExtendResult> {
    const { requestId } = request;
    const from = quota('from', request.from);
    const to = quota('to', request.to);
    if (to < from) throw new RangeError(`a hold cannot be lowered from ${from} to ${to}`);
    return this.#store.run('extend', { requestId, from, to, now: this.#clock() });
  }

  async settle(request: SettleRequest): Promise<Settlement | undefined> {
    const { requestId } = request;
    const args = { ...request, charged: quota('charged', request.charged), now: this.#clock() };
    const settlement = await persist(this.#store, 'settle', args);
    if (settlement !== undefined && settlement.debt > 0) this.#onShortfall({ requestId, ...settlement });
    return settlement;
  }

  async refund(request: { requestId: string; log?: LogEntry }): Promise<boolean> {
    const args = { ...request, now: this.#clock() };
    try {
      return await this.#store.run('refund', args);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      // Should the process end before, it is given back as what a vanished gateway held.
      persist(this.#store, 'refund', args).catch(() => {});
      return true;
    }
  }
}

export function quota(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new RangeError(`${name} must be a whole number from 0 below 2^53, not ${value}`);
}
