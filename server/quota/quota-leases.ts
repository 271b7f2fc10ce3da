import { PeriodicTask } from '../lib/periodic-task.ts';
import type { Timers } from '../lib/timers.ts';
import { StoreUnavailable } from '../store/availability.ts';
import { type CacheValidity, isFresh, validityUntil } from '../store/change-feed.ts';
import type { LeaseGrant } from '../store/commands/leases.ts';
import { findLent, findLentOfWallet, findRecalledLeases, type Lent } from '../store/queries/leases.ts';
import { persist, type Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { Spending, spendingWindowMs } from './spending.ts';

/** Membership of this gateway among the gateways of the database. */
interface Membership {
  /** Whether no other gateway can have removed this one yet. */
  readonly isMember: boolean;
  /** Increments when the others removed this gateway. Its leases of earlier epochs are lost. */
  readonly epoch: number;
}

export interface QuotaLeasesParts {
  store: Pick<Store, 'run' | 'read' | 'retrySignal'> & Partial<Pick<Store, 'changeFeed'>>;
  /** Id of the gateway that owns the leases. */
  gateway: string;
  membership: Membership;
  logger: Logger;
  timers: Timers;
  /** Epoch milliseconds. */
  clock: () => number;
  /** Interval of polls for recalled leases, in milliseconds. Default: 250. */
  pollIntervalMs?: number;
}

/** Quota of a key that this gateway may reserve without the database. */
export interface QuotaLease {
  readonly id: string;
  readonly tokenId: number;
  /** Whether the key has no limit, so that the wallet of its user alone gave the quota. */
  readonly unlimited: boolean;
  /** Membership epoch in which it was granted. */
  readonly epoch: number;
  /** Quota that no settlement has used, including reserved quota. */
  remaining: number;
  reserved: number;
  /** Reservations, and settlements that are not on disk yet. */
  openCalls: number;
  /** True while the lease is returned. It accepts no new reservation then. */
  isDraining: boolean;
  usedAt: number;
  /** The running return to the database. */
  returning: Promise<void> | undefined;
}

interface KeyState {
  spending: Spending;
  lease: QuotaLease | undefined;
  draining: Set<QuotaLease>;
  granting: Promise<LeaseGrant['outcome']> | undefined;
  reclaiming: Promise<boolean> | undefined;
  /** Until this time by the monotonic clock, nothing is leased and the ledger reserves from the balance. */
  ledgerOnlyUntil: number;
}

const defaultPollIntervalMs = 250;
/** How long a poll result stays valid while the change feed is connected, in milliseconds. */
const feedTtlMs = 2_000;
/** A lease that is unused for this time is returned. */
const idleTimeoutMs = spendingWindowMs;
/** A lease covers at least this number of calls like the one that needs it. */
const minCalls = 4;
/** How long nothing is leased after a grant was refused or a lease reclaimed, in milliseconds. */
const ledgerOnlyMs = 1_000;
/** How long other gateways may take to return recalled leases, and the interval of polls for that, in milliseconds. */
const recallTimeoutMs = 2_000;
const recallPollMs = 50;

/** Leases quota of keys for this gateway. Only keys that are used repeatedly get a lease. */
export class QuotaLeases {
  readonly #parts: QuotaLeasesParts;
  readonly #polling: PeriodicTask;
  readonly #keys = new Map<number, KeyState>();
  readonly #leases = new Map<string, QuotaLease>();
  /** Running recalls, by the user of the wallet. */
  readonly #walletRecalls = new Map<number, Promise<boolean>>();
  #lastNumber = 0;
  /** Validity of the last poll. Undefined: the next poll is due. */
  #validity: CacheValidity | undefined;
  #failing = false;
  #stopped = false;

  constructor(parts: QuotaLeasesParts) {
    this.#parts = parts;
    this.#polling = new PeriodicTask(parts.timers);
    parts.store.changeFeed?.subscribe(({ keyIds, userIds, recalledKeyIds, overflow }) => {
      const isAffected = [...keyIds, ...recalledKeyIds].some((tokenId) => this.#keys.has(tokenId));
      if (!overflow && userIds.size === 0 && !isAffected) return;
      this.#validity = undefined;
      // The next periodic poll repeats a failed one.
      this.pollRecalls().catch(() => {});
    });
  }

  start(): void {
    this.#polling.start(
      this.#parts.pollIntervalMs ?? defaultPollIntervalMs,
      () => this.#pollIfDue(),
      (error) => {
        // The store logs its own absence once.
        if (!this.#failing && !(error instanceof StoreUnavailable))
          this.#parts.logger.error({ err: error }, 'leases of quota could not be checked');
        this.#failing = true;
      },
    );
  }

  /** Returns all leases. Call it when no reservation is open. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#polling.stop();
    for (const { granting } of this.#keys.values()) await granting?.catch(() => {});
    for (const lease of this.#leases.values()) this.#drain(lease);
    for (const key of this.#keys.values()) await this.#drained(key);
  }

  /** Records a use of a key. Returns true if the key was also used recently, so that a lease is worthwhile. */
  recordUse(tokenId: number, amount: number): boolean {
    const now = this.#parts.timers.monotonic();
    const { spending } = this.#keyOf(tokenId);
    const wasUsed = spending.calls(now) > 0;
    spending.add(amount, now);
    return wasUsed;
  }

  /** Reserves an amount in the key's lease. Undefined: the lease does not cover it. */
  reserve(tokenId: number, amount: number): QuotaLease | undefined {
    const lease = this.#keys.get(tokenId)?.lease;
    if (lease === undefined || !this.extend(lease, amount)) return undefined;
    lease.openCalls += 1;
    return lease;
  }

  /** Adds an amount to a reservation. Returns false if the lease does not cover it. */
  extend(lease: QuotaLease, amount: number): boolean {
    if (!this.#isUsable(lease) || lease.remaining - lease.reserved < amount) return false;
    lease.reserved += amount;
    lease.usedAt = this.#parts.timers.monotonic();
    return true;
  }

  /** Leases more of a key. After `granted`, try to reserve again; after any other outcome, use the balance. */
  async acquire(tokenId: number, amount: number): Promise<LeaseGrant['outcome']> {
    const key = this.#keyOf(tokenId);
    const { membership, timers } = this.#parts;
    if (this.#stopped || !membership.isMember || timers.monotonic() < key.ledgerOnlyUntil) return 'scarce';
    // Concurrent calls share one grant.
    key.granting ??= this.#grant(tokenId, key, amount).finally(() => {
      key.granting = undefined;
    });
    return key.granting;
  }

  /** Quota of a lease that no call has reserved. */
  unreserved(lease: QuotaLease): number {
    return Math.max(0, lease.remaining - lease.reserved);
  }

  /**
   * Removes a reservation. `used`: the part that the ledger has taken over. `isLost`: the lease no longer exists in the
   * database.
   */
  release(lease: QuotaLease, reserved: number, { used = 0, isLost = false } = {}): void {
    lease.reserved -= reserved;
    lease.remaining -= used;
    this.closeCall(lease, isLost);
  }

  /**
   * Charges the cost of a reservation to its lease. Returns the amount that the settlement returns to the balance: the
   * rest of the reservation if the lease is draining. Call `closeCall` when the settlement is on disk.
   */
  charge(lease: QuotaLease, reserved: number, charged: number): number {
    lease.reserved -= reserved;
    const returned = lease.isDraining ? Math.max(0, reserved - charged) : 0;
    lease.remaining -= charged + returned;
    return returned;
  }

  /** Closes a call of a lease. `isLost`: the lease no longer exists in the database. */
  closeCall(lease: QuotaLease, isLost: boolean): void {
    lease.openCalls -= 1;
    if (isLost || lease.isDraining) this.#drain(lease);
  }

  /**
   * Reclaims leased quota for an amount that the balance of a key or of its wallet does not cover: of the key, or of all keys
   * of the wallet. Waits up to 2 s for other gateways. Returns false if all quota of one of them would not cover the amount.
   * `again`: an earlier attempt failed although the balances seemed to cover it. `limitOnly`: the wallet does not matter.
   */
  async reclaim(tokenId: number, amount: number, again: boolean, limitOnly = false): Promise<boolean> {
    const { store, gateway } = this.#parts;
    const key = this.#keyOf(tokenId);
    key.ledgerOnlyUntil = this.#parts.timers.monotonic() + ledgerOnlyMs;
    await key.granting?.catch(() => {});
    if (key.lease !== undefined) this.#drain(key.lease);
    await this.#drained(key);
    const lent = await findLent(store.read, tokenId, gateway);
    if (lent === undefined) return false;
    const wallet = limitOnly ? undefined : lent.wallet;
    const covers = (balance: Lent | undefined) =>
      balance === undefined || balance.remain + balance.leased >= amount;
    if (!covers(lent.key) || !covers(wallet)) return false;
    const isShort = (balance: Lent | undefined) => balance !== undefined && balance.remain < amount;
    const isCovered = !isShort(lent.key) && !isShort(wallet);
    // The leases of a wallet include those of the key.
    const ofWallet = wallet !== undefined && (again || isShort(wallet)) ? wallet : undefined;
    const unanswered = (ofWallet ?? lent.key)?.unanswered ?? 0;
    if (unanswered === 0 || (isCovered && !again)) return isCovered;
    if (ofWallet !== undefined) return this.#recallWallet(ofWallet.userId);
    key.reclaiming ??= this.#recall(tokenId).finally(() => {
      key.reclaiming = undefined;
    });
    return key.reclaiming;
  }

  /** Reclaims leased quota of a wallet from all keys and gateways. Returns false if all of its quota would not cover the amount. */
  async reclaimWallet(userId: number, amount: number): Promise<boolean> {
    const wallet = await findLentOfWallet(this.#parts.store.read, userId);
    if (wallet === undefined || wallet.remain + wallet.leased < amount) return false;
    return this.#recallWallet(userId);
  }

  /** Returns leases that are recalled, idle or too large. */
  async pollRecalls(): Promise<void> {
    const { store, gateway, timers } = this.#parts;
    const now = timers.monotonic();
    this.#returnUnused(now);
    if (this.#leases.size === 0) return;
    // A recall that arrives during the query clears this again.
    const validity = validityUntil(store.changeFeed, now + feedTtlMs);
    this.#validity = validity;
    let areAllKnown = false;
    try {
      const recalled = await findRecalledLeases(store.read, gateway);
      const known = recalled.flatMap((id) => this.#leases.get(id) ?? []);
      // An unknown lease is being granted. The next poll finds it again.
      areAllKnown = known.length === recalled.length;
      for (const lease of known) this.#drain(lease);
    } finally {
      if (!areAllKnown && this.#validity === validity) this.#validity = undefined;
    }
    this.#failing = false;
  }

  async #pollIfDue(): Promise<void> {
    const { store, timers } = this.#parts;
    const now = timers.monotonic();
    if (!isFresh(this.#validity, store.changeFeed, now)) return this.pollRecalls();
    this.#returnUnused(now);
  }

  #keyOf(tokenId: number): KeyState {
    return this.#keys.getOrInsertComputed(tokenId, () => ({
      spending: new Spending(),
      lease: undefined,
      draining: new Set(),
      granting: undefined,
      reclaiming: undefined,
      ledgerOnlyUntil: 0,
    }));
  }

  #isUsable(lease: QuotaLease): boolean {
    const { membership } = this.#parts;
    if (lease.epoch !== membership.epoch) this.#drain(lease);
    return membership.isMember && !lease.isDraining;
  }

  #returnUnused(now: number): void {
    for (const [tokenId, { lease, spending, draining, granting, reclaiming }] of this.#keys) {
      if (lease !== undefined) {
        const isIdle = now - lease.usedAt >= idleTimeoutMs;
        // After a burst, a lease is larger than the current spending needs.
        const maxFree = 2 * minCalls * Math.max(1, spending.amount(now));
        if (isIdle || lease.remaining - lease.reserved > maxFree) this.#drain(lease);
        continue;
      }
      const isBusy = draining.size > 0 || granting !== undefined || reclaiming !== undefined;
      if (!isBusy && spending.calls(now) === 0) this.#keys.delete(tokenId);
    }
  }

  async #grant(tokenId: number, key: KeyState, need: number): Promise<LeaseGrant['outcome']> {
    const { store, gateway, membership, timers, clock } = this.#parts;
    const { epoch } = membership;
    const { lease } = key;
    if (lease === undefined) this.#lastNumber += 1;
    const id = lease?.id ?? `${gateway}.${this.#lastNumber}`;
    const want = Math.max(minCalls * need, key.spending.amount(timers.monotonic()));
    const request = { id, grow: lease !== undefined, tokenId, gateway, need, want, now: clock() };
    const grant = await store.run('grantLease', request);
    if (grant.outcome === 'granted') {
      const { amount, unlimited = false } = grant;
      if (lease === undefined) this.#addLease(key, { id, tokenId, unlimited, epoch, remaining: amount });
      else lease.remaining += amount;
      return 'granted';
    }
    if (grant.outcome === 'recalled') {
      if (lease !== undefined) this.#drain(lease);
      return 'granted';
    }
    key.ledgerOnlyUntil = timers.monotonic() + ledgerOnlyMs;
    return grant.outcome;
  }

  #addLease(
    key: KeyState,
    granted: Pick<QuotaLease, 'id' | 'tokenId' | 'unlimited' | 'epoch' | 'remaining'>,
  ): void {
    const usedAt = this.#parts.timers.monotonic();
    key.lease = { ...granted, reserved: 0, openCalls: 0, isDraining: false, usedAt, returning: undefined };
    this.#leases.set(granted.id, key.lease);
  }

  /** Resolves when no return is running. Quota that becomes free during one is returned by the next. */
  async #drained(key: KeyState): Promise<void> {
    for (const lease of key.draining) while (lease.returning !== undefined) await lease.returning;
  }

  async #recall(tokenId: number): Promise<boolean> {
    const { store, gateway } = this.#parts;
    await store.run('recallLeases', { tokenId });
    return this.#untilReturned(async () => (await findLent(store.read, tokenId, gateway))?.key);
  }

  /** Recalls the leases of all keys of a wallet. Concurrent calls share one recall. */
  #recallWallet(userId: number): Promise<boolean> {
    return this.#walletRecalls.getOrInsertComputed(userId, async () => {
      const { store } = this.#parts;
      try {
        // The second time includes leases that were granted during the first. No more are granted then.
        if ((await store.run('recallWallet', { userId })) > 0) await store.run('recallWallet', { userId });
        return await this.#untilReturned(async () => {
          await this.pollRecalls();
          return findLentOfWallet(store.read, userId);
        });
      } finally {
        this.#walletRecalls.delete(userId);
      }
    });
  }

  /** Waits until no lease can return quota any more. Returns false if the key or the wallet does not exist. */
  async #untilReturned(findBalance: () => Promise<Lent | undefined>): Promise<boolean> {
    const { timers } = this.#parts;
    const until = timers.monotonic() + recallTimeoutMs;
    for (;;) {
      const lent = await findBalance();
      if (lent === undefined) return false;
      if (lent.unanswered === 0 || timers.monotonic() >= until || this.#stopped) return true;
      await new Promise<void>((resolve) => timers.alarm(recallPollMs, resolve));
    }
  }

  /** Returns the unreserved part of a lease now, and all of it after its last call. */
  #drain(lease: QuotaLease): void {
    const key = this.#keyOf(lease.tokenId);
    const isNew = !lease.isDraining;
    lease.isDraining = true;
    if (key.lease === lease) key.lease = undefined;
    if (!this.#leases.has(lease.id) || lease.returning !== undefined) return;
    if (!isNew && lease.openCalls > 0 && lease.remaining === lease.reserved) return;
    key.draining.add(lease);
    lease.returning = this.#return(lease).finally(() => {
      lease.returning = undefined;
      if (!this.#leases.has(lease.id)) key.draining.delete(lease);
      // Calls may have ended during the return.
      else if (lease.openCalls === 0 || lease.remaining > lease.reserved) this.#drain(lease);
    });
  }

  async #return(lease: QuotaLease): Promise<void> {
    const { store, clock, logger } = this.#parts;
    const isLast = lease.openCalls === 0;
    const free = lease.remaining - lease.reserved;
    lease.remaining -= free;
    if (isLast) this.#leases.delete(lease.id);
    try {
      const amount = isLast ? null : free;
      const exists = await persist(store, 'returnLease', { id: lease.id, amount, now: clock() });
      if (!exists) this.#leases.delete(lease.id);
    } catch (error) {
      // The last call returns the rest.
      logger.error({ err: error, lease: lease.id }, 'a lease of quota could not be returned');
    }
  }
}
