import type { BookedCall } from '../store/commands/booked-calls.ts';
import type { ExtendResult, ReserveResult, Settlement } from '../store/commands/ledger.ts';
import type { LogEntry } from '../store/commands/log-entries.ts';
import type { Store } from '../store/store.ts';
import { errorType } from '../telemetry/error-type.ts';
import { currentWork } from '../telemetry/work.ts';
import { type Lease, Leases, type LeasesParts } from './leases.ts';
import {
  type Drawn,
  type Extension,
  type Holds,
  type Ledger,
  type QuotaSource,
  quota,
  type ReserveRequest,
  type SettleRequest,
  type Shortfall,
} from './ledger.ts';
import { type Booked, Settlements } from './settlements.ts';

export interface CallHoldsParts extends LeasesParts {
  store: Pick<Store, 'run' | 'read' | 'over' | 'check'>;
  /** For what is not held here. */
  ledger: Ledger;
  onShortfall?: (shortfall: Shortfall) => void;
}

/** What is held for a call. */
export interface HeldCall {
  requestId: string;
  tokenId: number;
  unit: string;
  amount: number;
  /** Its key has no limit. */
  unlimited: boolean;
}

/** A call that is held in memory. */
interface Hold {
  request: ReserveRequest;
  amount: number;
  /** Undefined: its key has no limit, or had none. */
  lease: Lease | undefined;
  /** Ends when it has been raised: it is not closed meanwhile. */
  raising: Promise<unknown> | undefined;
  /** It is over, and not written down yet. */
  closed: boolean;
}

/** So often what gateways have of a key is asked back for a call that its balance does not cover. */
const reclaims = 2;
/** So often more is leased for a call, while others take it away. */
const grants = 3;

/**
 * The books of calls that end with their connection: they are held in this gateway's memory against quota that it has leased,
 * and only what they cost is written. A key that is seldom used, or has little left, has its holds written down one by one.
 */
export class CallHolds implements Holds, QuotaSource {
  readonly #parts: CallHoldsParts;
  readonly #leases: Leases;
  readonly #settlements: Settlements;
  readonly #holds = new Map<string, Hold>();

  constructor(parts: CallHoldsParts) {
    this.#parts = parts;
    this.#leases = new Leases(parts);
    this.#settlements = new Settlements(parts.store);
  }

  /** What is held in memory: the database knows nothing of it. */
  get held(): readonly HeldCall[] {
    return [...this.#holds.values()].map(({ request: { requestId, token, unit }, amount, lease }) => ({
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

  /** To call when nothing is held any more: writes what waits, and gives back what is leased. */
  async stop(): Promise<void> {
    await this.#settlements.idle();
    await this.#leases.stop();
  }

  /** Gives back what is recalled by now. */
  look(): Promise<void> {
    return this.#leases.look();
  }

  /**
   * What cannot be written must not be held.
   *
   * @throws StoreUnavailable while the store does not answer, or what calls cost waits for it
   */
  async check(): Promise<void> {
    // A database with a full disk still answers questions.
    if (this.#settlements.refusal !== undefined) throw this.#settlements.refusal;
    await this.#parts.store.check();
  }

  async reserve(request: ReserveRequest): Promise<ReserveResult> {
    const { requestId, token } = request;
    const amount = quota('amount', request.amount);
    if (this.#holds.has(requestId)) return 'duplicate';
    await this.check();
    if (token.unlimited === true) {
      this.#open(request, undefined);
      return 'reserved';
    }
    const lease = await this.#take(token.id, amount);
    if (this.#holds.has(requestId)) {
      if (lease !== undefined) this.#leases.release(lease, amount, 0, false);
      return 'duplicate';
    }
    if (lease !== undefined) {
      this.#open(request, lease);
      return 'reserved';
    }
    const reserve = () => this.#parts.ledger.reserve(request);
    return this.reclaiming(token.id, amount, reserve, (outcome) => outcome === 'insufficient_quota');
  }

  async fromLease<T>(
    tokenId: number,
    amount: number,
    attempt: (lease: string) => Promise<T>,
    drawnBy: (outcome: T) => Drawn,
  ): Promise<T | undefined> {
    const lease = await this.#take(tokenId, quota('amount', amount));
    if (lease === undefined) return undefined;
    let drawn: Drawn = 'kept';
    try {
      const outcome = await attempt(lease.id);
      drawn = drawnBy(outcome);
      return outcome;
    } finally {
      // What fails has written nothing.
      if (drawn === 'taken') this.#leases.moved(lease, amount);
      else if (drawn === 'kept') this.#leases.release(lease, amount, 0, false);
      else this.#leases.missed(lease, amount);
    }
  }

  async reclaiming<T>(
    tokenId: number,
    amount: number,
    attempt: () => Promise<T>,
    isRefused: (outcome: T) => boolean,
  ): Promise<T> {
    for (let left = reclaims; ; left -= 1) {
      const outcome = await attempt();
      if (!isRefused(outcome) || left === 0) return outcome;
      if (!(await this.#leases.reclaim(tokenId, amount, left < reclaims))) return outcome;
    }
  }

  async extend(request: Extension): Promise<ExtendResult> {
    const hold = this.#holds.get(request.requestId);
    if (hold === undefined) return this.#extendWritten(request);
    const from = quota('from', request.from);
    const to = quota('to', request.to);
    if (to < from) throw new RangeError(`a hold cannot be lowered from ${from} to ${to}`);
    const raised = (hold.raising ?? Promise.resolve()).then(() => this.#raise(hold, request));
    hold.raising = raised.catch(() => {});
    return raised;
  }

  async settle(request: SettleRequest): Promise<Settlement | undefined> {
    const { requestId, log } = request;
    const cost = quota('charged', request.charged);
    const hold = await this.#close(requestId);
    if (hold === undefined) return this.#parts.ledger.settle(request);
    const { settlement } = await this.#book(hold, cost, log);
    if (settlement === null) return undefined;
    if (settlement.debt > 0) this.#parts.onShortfall?.({ requestId, ...settlement });
    return settlement;
  }

  async refund(request: { requestId: string; log?: LogEntry }): Promise<boolean> {
    const hold = await this.#close(request.requestId);
    if (hold === undefined) return this.#parts.ledger.refund(request);
    if (request.log !== undefined) return (await this.#book(hold, 0, request.log, true)).settlement !== null;
    this.#holds.delete(request.requestId);
    if (hold.lease !== undefined) this.#leases.release(hold.lease, hold.amount, 0, false);
    return true;
  }

  /** Holds an amount in a lease; undefined: it is to be taken from the key's balance. */
  async #take(tokenId: number, amount: number): Promise<Lease | undefined> {
    if (!this.#leases.note(tokenId, amount)) return undefined;
    for (let left = grants; left > 0; left -= 1) {
      const lease = this.#leases.take(tokenId, amount);
      if (lease !== undefined) return lease;
      if ((await this.#leases.obtain(tokenId, amount)) !== 'granted') return undefined;
    }
    return undefined;
  }

  #open(request: ReserveRequest, lease: Lease | undefined): void {
    this.#holds.set(request.requestId, {
      request,
      amount: request.amount,
      lease,
      raising: undefined,
      closed: false,
    });
  }

  /** A hold that ends now, once; undefined: it is not here, or not any more. */
  async #close(requestId: string): Promise<Hold | undefined> {
    const hold = this.#holds.get(requestId);
    await hold?.raising;
    if (hold === undefined || hold.closed || this.#holds.get(requestId) !== hold) return undefined;
    hold.closed = true;
    return hold;
  }

  /** Writes down what a hold came to. In haste, nobody waits for a store that is away. */
  async #book(hold: Hold, cost: number, log: LogEntry, hasty = false): Promise<Booked> {
    const { request, amount, lease } = hold;
    // The rest comes out of the balance, in the transaction of the settlement.
    const charged = lease === undefined ? cost : Math.min(cost, amount + this.#leases.unreserved(lease));
    const returned = lease === undefined ? 0 : this.#leases.release(lease, amount, charged, true);
    const call: BookedCall = {
      requestId: request.requestId,
      tokenId: request.token.id,
      userId: request.token.userId,
      model: request.model,
      unit: request.unit,
      lease: lease?.id ?? null,
      held: amount,
      charged,
      beyond: cost - charged,
      returned,
      endedAt: this.#parts.clock(),
      log,
    };
    const span = currentWork()?.trace?.child('settle', {});
    const { written, told } = this.#settlements.book(call, hasty);
    const over = (leaseGone: boolean) => {
      this.#holds.delete(request.requestId);
      if (lease !== undefined) this.#leases.written(lease, leaseGone);
    };
    written.then(
      ({ leaseGone }) => {
        over(leaseGone);
        span?.end();
      },
      (error: unknown) => {
        over(false);
        span?.end({}, errorType(error));
      },
    );
    return told;
  }

  async #raise(hold: Hold, { from, to, unlimited }: Extension): Promise<ExtendResult> {
    const { request, lease } = hold;
    const { requestId, token } = request;
    if (hold.closed || this.#holds.get(requestId) !== hold || hold.amount !== from) return 'not_open';
    if (to === from || (lease === undefined && unlimited === true)) {
      hold.amount = to;
      return 'extended';
    }
    if (lease === undefined) return this.#writeDown(hold, to);
    this.#leases.note(token.id, to - from);
    for (let left = grants; left > 0 && !lease.draining; left -= 1) {
      if (this.#leases.takeMore(lease, to - from)) {
        hold.amount = to;
        return 'extended';
      }
      if ((await this.#leases.obtain(token.id, to - from)) !== 'granted') break;
    }
    return this.#writeDown(hold, to);
  }

  /** Makes a reservation in the ledger out of a hold that its lease cannot raise, or of which the key has got a limit. */
  async #writeDown({ request, lease, amount }: Hold, to: number): Promise<ExtendResult> {
    const { requestId, token, model, unit } = request;
    const { store, gateway, clock } = this.#parts;
    const from = lease === undefined ? 0 : amount;
    const whose = { requestId, tokenId: token.id, userId: token.userId, model, unit, gateway };
    const outcome = await this.reclaiming(
      token.id,
      to - from,
      () => store.run('holdExactly', { ...whose, lease: lease?.id ?? null, from, to, now: clock() }),
      (refused) => refused === 'insufficient_quota',
    );
    if (outcome === 'insufficient_quota') return outcome;
    this.#holds.delete(requestId);
    if (lease !== undefined) this.#leases.moved(lease, from);
    return outcome;
  }

  #extendWritten(request: Extension): Promise<ExtendResult> {
    const extend = () => this.#parts.ledger.extend(request);
    if (request.tokenId === undefined) return extend();
    const more = request.to - request.from;
    return this.reclaiming(request.tokenId, more, extend, (outcome) => outcome === 'insufficient_quota');
  }
}
