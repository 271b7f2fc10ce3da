import type { BookedCall } from '../store/commands/booked-calls.ts';
import type { ExtendResult, ReserveResult, Settlement } from '../store/commands/ledger.ts';
import type { LogEntry } from '../store/commands/log-entries.ts';
import type { Store } from '../store/store.ts';
import { errorType } from '../telemetry/error-type.ts';
import { currentContext } from '../telemetry/telemetry-context.ts';
import { describeBudget, describeShortage, type RefusedKey } from './insufficient-quota.ts';
import {
  type ExtendRequest,
  type LeaseDraw,
  type Ledger,
  type QuotaSource,
  type Reservations,
  type ReserveRequest,
  requireExtension,
  requireQuota,
  type SettleRequest,
  type Shortfall,
} from './ledger.ts';
import { type QuotaLease, QuotaLeases, type QuotaLeasesParts } from './quota-leases.ts';
import { type Booked, Settlements } from './settlements.ts';

export interface CallQuotaParts extends QuotaLeasesParts {
  store: Pick<Store, 'run' | 'read' | 'retrySignal' | 'check'>;
  /** For reservations that are not in memory. */
  ledger: Ledger;
  onShortfall?: (shortfall: Shortfall) => void;
}

export interface CallReservation {
  requestId: string;
  tokenId: number;
  unit: string;
  amount: number;
  /** Whether the quota of its key is unlimited without a wallet. */
  unlimited: boolean;
}

/** A reservation in memory. */
interface Reservation {
  request: ReserveRequest;
  amount: number;
  /** Undefined: the quota of the key is unlimited without a wallet, or was when the call began. */
  lease: QuotaLease | undefined;
  /** The running extension, during which the reservation is not closed. */
  extending: Promise<unknown> | undefined;
  /** Whether the call has ended. Its settlement may not be on disk yet. */
  isClosed: boolean;
}

/** How often leased quota of a key is reclaimed for a call that its balance does not cover. */
const maxReclaims = 2;
/** How often a lease grows for a call while concurrent calls use it up. */
const maxGrants = 3;

const lacksQuota = (outcome: ReserveResult | ExtendResult) => outcome === 'insufficient_quota';

/**
 * Reserves and settles quota for calls that end with their connection. Reservations are kept in memory against leased
 * quota, and only settlements are written. For a key that is rarely used or low on quota, the ledger is used instead.
 */
export class CallQuota implements Reservations, QuotaSource {
  readonly #parts: CallQuotaParts;
  readonly #leases: QuotaLeases;
  readonly #settlements: Settlements;
  readonly #reservations = new Map<string, Reservation>();

  constructor(parts: CallQuotaParts) {
    this.#parts = parts;
    this.#leases = new QuotaLeases(parts);
    this.#settlements = new Settlements(parts.store);
  }

  /** Reservations in memory. The database does not contain them. */
  get reservations(): readonly CallReservation[] {
    return [...this.#reservations.values()].map(({ request: { requestId, token, unit }, amount, lease }) => ({
      requestId,
      tokenId: token.id,
      unit,
      amount,
      unlimited: lease === undefined,
    }));
  }

  start(): void {
    this.#leases.start();
  }

  /** Writes pending settlements and returns all leases. Call it when no reservation is open. */
  async stop(): Promise<void> {
    await this.#settlements.idle();
    await this.#leases.stop();
  }

  /** Polls for recalled leases and returns them, along with idle ones. */
  pollRecalls(): Promise<void> {
    return this.#leases.pollRecalls();
  }

  /**
   * Checks that a settlement could be written.
   *
   * @throws StoreUnavailable while the store does not respond or refuses settlements
   */
  async check(): Promise<void> {
    // A database with a full disk still answers reads.
    if (this.#settlements.refusal !== undefined) throw this.#settlements.refusal;
    await this.#parts.store.check();
  }

  describeShortage(key: RefusedKey, ofBudget = false): Promise<string> {
    const { store, clock } = this.#parts;
    return ofBudget ? describeBudget(store.read, key, clock()) : describeShortage(store.read, key);
  }

  async reserve(request: ReserveRequest): Promise<ReserveResult> {
    const { requestId, token } = request;
    const amount = requireQuota('amount', request.amount);
    if (this.#reservations.has(requestId)) return 'duplicate';
    await this.check();
    if (token.unlimited === true) {
      this.#add(request, undefined);
      return 'reserved';
    }
    const lease = await this.#reserveInLease(token.id, amount);
    if (this.#reservations.has(requestId)) {
      if (lease !== undefined) this.#leases.release(lease, amount);
      return 'duplicate';
    }
    if (lease !== undefined) {
      this.#add(request, lease);
      return 'reserved';
    }
    const reserve = () => this.#parts.ledger.reserve(request);
    return this.withReclaim(token.id, amount, reserve, lacksQuota);
  }

  async withLease<T>(
    tokenId: number,
    amount: number,
    attempt: (lease: string) => Promise<T>,
    drawOf: (outcome: T) => LeaseDraw,
  ): Promise<T | undefined> {
    const lease = await this.#reserveInLease(tokenId, requireQuota('amount', amount));
    if (lease === undefined) return undefined;
    let draw: LeaseDraw = 'unused';
    try {
      const outcome = await attempt(lease.id);
      draw = drawOf(outcome);
      return outcome;
    } finally {
      // A failed attempt has written nothing.
      this.#leases.release(lease, amount, {
        used: draw === 'drawn' ? amount : 0,
        isLost: draw === 'no_lease',
      });
    }
  }

  async withReclaim<T>(
    tokenId: number,
    amount: number,
    attempt: () => Promise<T>,
    isRefused: (outcome: T) => boolean,
    { limitOnly = false }: { limitOnly?: boolean } = {},
  ): Promise<T> {
    for (let left = maxReclaims; ; left -= 1) {
      const outcome = await attempt();
      if (!isRefused(outcome) || left === 0) return outcome;
      if (!(await this.#leases.reclaim(tokenId, amount, left < maxReclaims, limitOnly))) return outcome;
    }
  }

  /** Runs `attempt`, which takes quota from a wallet, and again after leased quota of all its keys was reclaimed. */
  async withWalletReclaim<T>(
    userId: number,
    amount: number,
    attempt: () => Promise<T>,
    isRefused: (outcome: T) => boolean,
  ): Promise<T> {
    const outcome = await attempt();
    if (!isRefused(outcome) || !(await this.#leases.reclaimWallet(userId, amount))) return outcome;
    return attempt();
  }

  async extend(request: ExtendRequest): Promise<ExtendResult> {
    const { requestId, tokenId, from, to } = request;
    const reservation = this.#reservations.get(requestId);
    if (reservation === undefined) {
      const extend = () => this.#parts.ledger.extend(request);
      return tokenId === undefined ? extend() : this.withReclaim(tokenId, to - from, extend, lacksQuota);
    }
    requireExtension(request);
    const extended = (reservation.extending ?? Promise.resolve()).then(() =>
      this.#extend(reservation, request),
    );
    reservation.extending = extended.catch(() => {});
    return extended;
  }

  async settle(request: SettleRequest): Promise<Settlement | undefined> {
    const { requestId, log } = request;
    const cost = requireQuota('charged', request.charged);
    const reservation = await this.#close(requestId);
    if (reservation === undefined) return this.#parts.ledger.settle(request);
    const { settlement } = await this.#record(reservation, cost, log, () => {});
    if (settlement === null) return undefined;
    if (settlement.debt > 0) this.#parts.onShortfall?.({ requestId, ...settlement });
    return settlement;
  }

  async refund(request: { requestId: string; log?: LogEntry }): Promise<boolean> {
    const reservation = await this.#close(request.requestId);
    if (reservation === undefined) return this.#parts.ledger.refund(request);
    if (request.log !== undefined) {
      const unavailable = Promise.withResolvers<true>();
      const written = this.#record(reservation, 0, request.log, () => unavailable.resolve(true));
      return Promise.race([written.then(({ settlement }) => settlement !== null), unavailable.promise]);
    }
    this.#reservations.delete(request.requestId);
    const { lease, amount } = reservation;
    if (lease !== undefined) this.#leases.release(lease, amount);
    return true;
  }

  /** Reserves an amount in the lease of a key. Undefined: reserve it in the ledger. */
  async #reserveInLease(tokenId: number, amount: number): Promise<QuotaLease | undefined> {
    if (!this.#leases.recordUse(tokenId, amount)) return undefined;
    for (let left = maxGrants; left > 0; left -= 1) {
      const lease = this.#leases.reserve(tokenId, amount);
      if (lease !== undefined) return lease;
      if ((await this.#leases.acquire(tokenId, amount)) !== 'granted') return undefined;
    }
    return undefined;
  }

  #add(request: ReserveRequest, lease: QuotaLease | undefined): void {
    this.#reservations.set(request.requestId, {
      request,
      amount: request.amount,
      lease,
      extending: undefined,
      isClosed: false,
    });
  }

  /** Closes a reservation once. Undefined: it is not in memory or was closed before. */
  async #close(requestId: string): Promise<Reservation | undefined> {
    const reservation = this.#reservations.get(requestId);
    await reservation?.extending;
    if (reservation === undefined || !this.#isOpen(reservation)) return undefined;
    reservation.isClosed = true;
    return reservation;
  }

  #isOpen(reservation: Reservation): boolean {
    return !reservation.isClosed && this.#reservations.get(reservation.request.requestId) === reservation;
  }

  /** Writes the settlement of a reservation. While the store is unavailable, calls `onUnavailable` and waits. */
  #record(
    { request, amount, lease }: Reservation,
    cost: number,
    log: LogEntry,
    onUnavailable: () => void,
  ): Promise<Booked> {
    // The settlement takes the rest from the balance, in the same transaction.
    const charged = lease === undefined ? cost : Math.min(cost, amount + this.#leases.unreserved(lease));
    const returned = lease === undefined ? 0 : this.#leases.charge(lease, amount, charged);
    const call: BookedCall = {
      requestId: request.requestId,
      tokenId: request.token.id,
      userId: request.token.userId,
      model: request.model,
      unit: request.unit,
      lease: lease?.id ?? null,
      unlimited: lease?.unlimited === true,
      held: amount,
      charged,
      beyond: cost - charged,
      returned,
      endedAt: this.#parts.clock(),
      log,
    };
    const span = currentContext()?.trace?.child('settle', {});
    const written = this.#settlements.book(call, onUnavailable);
    const finish = (leaseGone: boolean) => {
      this.#reservations.delete(request.requestId);
      if (lease !== undefined) this.#leases.closeCall(lease, leaseGone);
    };
    written.then(
      ({ leaseGone }) => {
        finish(leaseGone);
        span?.end();
      },
      (error: unknown) => {
        finish(false);
        span?.end({}, errorType(error));
      },
    );
    return written;
  }

  async #extend(reservation: Reservation, { from, to, unlimited }: ExtendRequest): Promise<ExtendResult> {
    const { token } = reservation.request;
    const { lease } = reservation;
    if (!this.#isOpen(reservation) || reservation.amount !== from) return 'not_open';
    if (to === from || (lease === undefined && unlimited === true)) {
      reservation.amount = to;
      return 'extended';
    }
    if (lease === undefined) return this.#moveToLedger(reservation, to);
    this.#leases.recordUse(token.id, to - from);
    for (let left = maxGrants; left > 0 && !lease.isDraining; left -= 1) {
      if (this.#leases.extend(lease, to - from)) {
        reservation.amount = to;
        return 'extended';
      }
      if ((await this.#leases.acquire(token.id, to - from)) !== 'granted') break;
    }
    return this.#moveToLedger(reservation, to);
  }

  /** Moves a reservation into the ledger because its lease cannot extend it or its key has become limited. */
  async #moveToLedger({ request, lease, amount }: Reservation, to: number): Promise<ExtendResult> {
    const { requestId, token, model, unit } = request;
    const { store, gateway, clock } = this.#parts;
    const from = lease === undefined ? 0 : amount;
    const owner = { requestId, tokenId: token.id, userId: token.userId, model, unit, gateway };
    const outcome = await this.withReclaim(
      token.id,
      to - from,
      () => store.run('reserveExactly', { ...owner, lease: lease?.id ?? null, from, to, now: clock() }),
      lacksQuota,
    );
    if (outcome === 'insufficient_quota') return outcome;
    this.#reservations.delete(requestId);
    if (lease !== undefined) this.#leases.release(lease, from, { used: from });
    return outcome;
  }
}
