import type { Unit } from '../models/usage.ts';
import { StoreUnavailable } from '../store/availability.ts';
import type { ExtendResult, ReserveResult, Settlement } from '../store/commands/ledger.ts';
import type { LogEntry } from '../store/commands/log-entries.ts';
import type { ReservationKind } from '../store/schema.ts';
import { persist, type Store } from '../store/store.ts';
import { describeBudget, describeShortage, type RefusedKey } from './insufficient-quota.ts';

export interface ReserveRequest {
  /** Id of the reservation. Each id is reserved and settled or refunded at most once. */
  requestId: string;
  /** `unlimited`: its quota is known to be unlimited, and its user has no wallet. */
  token: { id: number; userId: number; unlimited?: boolean };
  model: string;
  unit: Unit;
  /** Quota to reserve, a whole number from 0. */
  amount: number;
  /** A `task` reservation outlives its gateway; a `request` reservation is refunded when the gateway is lost. Default: `request`. */
  kind?: ReservationKind;
}

/** Whether quota was drawn from a lease: `drawn`, `unused`, or `no_lease` when the lease did not exist. */
export type LeaseDraw = 'drawn' | 'unused' | 'no_lease';

/** Provides quota for work that is stored in rows of its own, such as tasks. */
export interface QuotaSource {
  /**
   * Runs `attempt`, which takes quota from the balance of a key and of its wallet. If `isRefused` returns true, a balance is
   * too low: reclaims leased quota and runs the attempt again. `limitOnly`: it takes nothing from the wallet.
   */
  withReclaim<T>(
    tokenId: number,
    amount: number,
    attempt: () => Promise<T>,
    isRefused: (outcome: T) => boolean,
    options?: { limitOnly?: boolean },
  ): Promise<T>;
  /**
   * Reserves an amount in a lease and runs `attempt`, which draws it from that lease in the database; `drawOf` returns
   * whether it did. Undefined: no lease of the key covers the amount, so take it from the balance.
   */
  withLease<T>(
    tokenId: number,
    amount: number,
    attempt: (lease: string) => Promise<T>,
    drawOf: (outcome: T) => LeaseDraw,
  ): Promise<T | undefined>;
}

export interface ExtendRequest {
  requestId: string;
  /** The key, so that its leased quota can be reclaimed. */
  tokenId?: number;
  /** Whether the quota of the key is still known to be unlimited. */
  unlimited?: boolean;
  from: number;
  to: number;
}

/** A settlement that exceeds the quota of its key. */
export interface Shortfall extends Settlement {
  requestId: string;
}

export interface SettleRequest {
  requestId: string;
  /** Cost in quota. */
  charged: number;
  log: LogEntry;
}

/** Reserves quota before work begins, and settles or refunds it afterwards. */
export interface Reservations {
  /** Describes the balance, or the budget, that was too low for a refused call. */
  describeShortage(key: RefusedKey, ofBudget?: boolean): Promise<string>;
  /** Reserves quota. Unlimited keys without a wallet always have enough. */
  reserve(request: ReserveRequest): Promise<ReserveResult>;
  /**
   * Raises a reservation from `from` to `to`, or leaves it unchanged without enough quota. `not_open`: it is closed or its
   * amount is not `from`.
   */
  extend(request: ExtendRequest): Promise<ExtendResult>;
  /**
   * Charges the cost and writes the log row in one transaction. Cost beyond the reservation comes from the balance, and
   * the rest becomes a debt of the key. Waits for an unavailable store. Undefined: the reservation was closed before, or
   * never existed.
   */
  settle(request: SettleRequest): Promise<Settlement | undefined>;
  /**
   * Refunds the reservation, with a log row of quota 0 when `log` is given. Returns true the first time. Does not wait for
   * an unavailable store: the refund follows when it responds again.
   */
  refund(request: { requestId: string; log?: LogEntry }): Promise<boolean>;
}

/** Keeps every reservation and settlement in the database. */
export class Ledger implements Reservations {
  readonly #store: Store;
  readonly #gateway: string;
  readonly #clock: () => number;
  readonly #onShortfall: (shortfall: Shortfall) => void;

  /** `gateway` owns the reservations of requests; `clock` returns epoch milliseconds. */
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

  describeShortage(key: RefusedKey, ofBudget = false): Promise<string> {
    const { read } = this.#store;
    return ofBudget ? describeBudget(read, key, this.#clock()) : describeShortage(read, key);
  }

  async reserve(request: ReserveRequest): Promise<ReserveResult> {
    const kind = request.kind ?? 'request';
    return this.#store.run('reserve', {
      requestId: request.requestId,
      tokenId: request.token.id,
      userId: request.token.userId,
      model: request.model,
      unit: request.unit,
      amount: requireQuota('amount', request.amount),
      kind,
      gateway: kind === 'request' ? this.#gateway : null,
      now: this.#clock(),
    });
  }

  async extend(request: ExtendRequest): Promise<ExtendResult> {
    const { requestId } = request;
    const { from, to } = requireExtension(request);
    return this.#store.run('extend', { requestId, from, to, now: this.#clock() });
  }

  async settle(request: SettleRequest): Promise<Settlement | undefined> {
    const { requestId } = request;
    const args = { ...request, charged: requireQuota('charged', request.charged), now: this.#clock() };
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
      // If the process ends before, it is refunded as a reservation of a lost gateway.
      persist(this.#store, 'refund', args).catch(() => {});
      return true;
    }
  }
}

/** @throws RangeError when the value is not a whole number from 0 below 2^53 */
export function requireQuota(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new RangeError(`${name} must be a whole number from 0 below 2^53, not ${value}`);
}

/** @throws RangeError when an amount is not valid, or `to` is below `from` */
export function requireExtension({ from, to }: ExtendRequest): Pick<ExtendRequest, 'from' | 'to'> {
  requireQuota('from', from);
  requireQuota('to', to);
  if (to < from) throw new RangeError(`a reservation cannot be lowered from ${from} to ${to}`);
  return { from, to };
}
