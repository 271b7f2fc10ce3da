import { PeriodicTask } from '../lib/periodic-task.ts';
import type { Timers } from '../lib/timers.ts';
import { StoreUnavailable } from '../store/availability.ts';
import type { LeaseGrant } from '../store/commands/leases.ts';
import { type Belief, beliefIn, isBelieved } from '../store/news.ts';
import { findLent, findRecalledLeases } from '../store/queries/leases.ts';
import { persist, type Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { Spending, spendingWindow } from './spending.ts';

/** A gateway's own standing among the others. */
export interface Standing {
  /** Whether no other gateway can have taken this one for gone yet. */
  readonly sound: boolean;
  /** Grows when the others took it for gone: whatever it had before is lost. */
  readonly era: number;
}

export interface LeasesParts {
  store: Pick<Store, 'run' | 'read' | 'over'> & Partial<Pick<Store, 'hearing'>>;
  /** The gateway whose leases these are. */
  gateway: string;
  standing: Standing;
  logger: Logger;
  timers: Timers;
  /** Epoch milliseconds. */
  clock: () => number;
  /** Between two looks whether leases are recalled, in milliseconds; default 250. */
  lookMs?: number;
}

/** Quota of a key that this gateway may give out. Of what the database says is left, `left` is not settled yet. */
export interface Lease {
  readonly id: string;
  readonly tokenId: number;
  readonly era: number;
  left: number;
  /** What of it is held. */
  held: number;
  /** Holds, and settlements that are not written yet. */
  open: number;
  /** Nothing new is held in it: it is on its way back. */
  draining: boolean;
  usedAt: number;
  /** The giving back that is under way. */
  returning: Promise<void> | undefined;
}

interface Key {
  spending: Spending;
  lease: Lease | undefined;
  /** Those on their way back. */
  drained: Set<Lease>;
  granting: Promise<LeaseGrant['outcome']> | undefined;
  reclaiming: Promise<boolean> | undefined;
  /** Until then every hold is taken from the balance, by the monotonic clock. */
  exactUntil: number;
}

const standardLookMs = 250;
/** So long a look is good for where recalls by other gateways are heard of, in milliseconds. */
const heardForMs = 2_000;
/** A lease that has not been used for so long goes back, in milliseconds. */
const idleMs = spendingWindow;
/** So many calls like the one that needs it a lease is large at least. */
const leastCalls = 4;
/** So long the balance alone is drawn on where too little was left for a lease, in milliseconds. */
const exactMs = 1_000;
/** So long other gateways have to give back what is asked for, in milliseconds, and between two looks at that. */
const patienceMs = 2_000;
const askMs = 50;

/** What this gateway has leased of keys. A key that is used now and then has no lease. */
export class Leases {
  readonly #parts: LeasesParts;
  readonly #periodicTask: PeriodicTask;
  readonly #keys = new Map<number, Key>();
  readonly #live = new Map<string, Lease>();
  #number = 0;
  /** What the last look is good for; undefined: the next one is due. */
  #good: Belief | undefined;
  #failing = false;
  #stopped = false;

  constructor(parts: LeasesParts) {
    this.#parts = parts;
    this.#periodicTask = new PeriodicTask(parts.timers);
    parts.store.hearing?.subscribe(({ tokens, users, leases, flood }) => {
      const mine = [...tokens, ...leases].some((tokenId) => this.#keys.has(tokenId));
      if (!flood && users.size === 0 && !mine) return;
      this.#good = undefined;
      // One that fails is repeated with the next round.
      this.look().catch(() => {});
    });
  }

  start(): void {
    this.#periodicTask.start(
      this.#parts.lookMs ?? standardLookMs,
      () => this.#lookIfDue(),
      (error) => {
        // An absent store is logged once, by itself.
        if (!this.#failing && !(error instanceof StoreUnavailable))
          this.#parts.logger.error({ err: error }, 'leases of quota could not be looked after');
        this.#failing = true;
      },
    );
  }

  /** Gives everything back. To call when nothing is held any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#periodicTask.stop();
    for (const { granting } of this.#keys.values()) await granting?.catch(() => {});
    for (const lease of this.#live.values()) this.#drain(lease);
    for (const key of this.#keys.values()) await this.#returned(key);
  }

  /** Notes that a key is used. True: it was used a moment ago, too, so that it is worth a lease. */
  note(tokenId: number, amount: number): boolean {
    const now = this.#parts.timers.monotonic();
    const { spending } = this.#keyOf(tokenId);
    const used = spending.calls(now) > 0;
    spending.add(amount, now);
    return used;
  }

  /** Holds an amount in the key's lease, if that has it. */
  take(tokenId: number, amount: number): Lease | undefined {
    const lease = this.#keys.get(tokenId)?.lease;
    if (lease === undefined || !this.#isGood(lease) || lease.left - lease.held < amount) return undefined;
    lease.held += amount;
    lease.open += 1;
    lease.usedAt = this.#parts.timers.monotonic();
    return lease;
  }

  /** Holds more in a lease, if it has it. */
  takeMore(lease: Lease, amount: number): boolean {
    if (!this.#isGood(lease) || lease.left - lease.held < amount) return false;
    lease.held += amount;
    lease.usedAt = this.#parts.timers.monotonic();
    return true;
  }

  /** Leases more of a key. `granted`: it is worth another try; any other: its quota is to be taken from the balance. */
  async obtain(tokenId: number, amount: number): Promise<LeaseGrant['outcome']> {
    const key = this.#keyOf(tokenId);
    const { standing, timers } = this.#parts;
    if (this.#stopped || !standing.sound || timers.monotonic() < key.exactUntil) return 'scarce';
    // Who comes while one is asked for waits for that one.
    key.granting ??= this.#grant(tokenId, key, amount).finally(() => {
      key.granting = undefined;
    });
    return key.granting;
  }

  /** Quota of a lease that no call has reserved. */
  unreserved(lease: Lease): number {
    return Math.max(0, lease.left - lease.held);
  }

  /**
   * A hold is over: what it cost leaves the lease. Gives what of the rest is to go back to the balance with the
   * settlement, after which `written` is to be called. Without a settlement, nothing is.
   */
  release(lease: Lease, held: number, charged: number, settled: boolean): number {
    lease.held -= held;
    const returned = lease.draining && settled ? Math.max(0, held - charged) : 0;
    lease.left -= charged + returned;
    if (!settled) this.written(lease, false);
    return returned;
  }

  /** The settlement of a hold is written. */
  written(lease: Lease, gone: boolean): void {
    lease.open -= 1;
    if (gone || lease.draining) this.#drain(lease);
  }

  /** A hold has left the lease for the ledger. */
  moved(lease: Lease, held: number): void {
    lease.held -= held;
    lease.left -= held;
    this.written(lease, false);
  }

  /** A hold was to leave the lease for the ledger, and the lease was not there. */
  missed(lease: Lease, held: number): void {
    lease.held -= held;
    this.written(lease, true);
  }

  /**
   * Brings back what gateways have of a key, its own first, for a hold that the balance does not cover. False when all of it
   * would not cover it. A gateway that does not answer is not waited for any longer than a moment. `again`: it was not enough
   * that the balance seemed to cover it.
   */
  async reclaim(tokenId: number, amount: number, again: boolean): Promise<boolean> {
    const { store, gateway } = this.#parts;
    const key = this.#keyOf(tokenId);
    await this.#returnOwn(key);
    const lent = await findLent(store.read, tokenId, gateway);
    if (lent === undefined || lent.remain + lent.leased < amount) return false;
    const covered = lent.remain >= amount;
    if (lent.unanswered === 0 || (covered && !again)) return covered;
    key.reclaiming ??= this.#recall(tokenId).finally(() => {
      key.reclaiming = undefined;
    });
    return key.reclaiming;
  }

  /** Gives back what is recalled, or has not been used for a while. */
  async look(): Promise<void> {
    const { store, gateway, timers } = this.#parts;
    const now = timers.monotonic();
    for (const [id, key] of this.#keys) this.#tidy(id, key, now);
    if (this.#live.size === 0) return;
    // Whoever hears of a recall meanwhile takes it away again.
    const good = beliefIn(store.hearing, now + heardForMs);
    this.#good = good;
    let allKnown = false;
    try {
      const recalled = await findRecalledLeases(store.read, gateway);
      const known = recalled.flatMap((id) => this.#live.get(id) ?? []);
      // One that is not known yet is being granted: the next look finds it.
      allKnown = known.length === recalled.length;
      for (const lease of known) this.#drain(lease);
    } finally {
      if (!allKnown && this.#good === good) this.#good = undefined;
    }
    this.#failing = false;
  }

  async #lookIfDue(): Promise<void> {
    const { store, timers } = this.#parts;
    const now = timers.monotonic();
    if (!isBelieved(this.#good, store.hearing, now)) return this.look();
    for (const [id, key] of this.#keys) this.#tidy(id, key, now);
  }

  #keyOf(tokenId: number): Key {
    return this.#keys.getOrInsertComputed(tokenId, () => ({
      spending: new Spending(),
      lease: undefined,
      drained: new Set(),
      granting: undefined,
      reclaiming: undefined,
      exactUntil: 0,
    }));
  }

  #isGood(lease: Lease): boolean {
    const { standing } = this.#parts;
    if (lease.era !== standing.era) this.#drain(lease);
    return standing.sound && !lease.draining;
  }

  #tidy(tokenId: number, key: Key, now: number): void {
    const { lease, spending } = key;
    if (lease !== undefined) {
      const free = lease.left - lease.held;
      const idle = now - lease.usedAt >= idleMs;
      // A rush is over: what it was given for is not needed.
      if (idle || free > 2 * leastCalls * Math.max(1, spending.amount(now))) this.#drain(lease);
    } else if (
      key.drained.size === 0 &&
      key.granting === undefined &&
      key.reclaiming === undefined &&
      spending.calls(now) === 0
    )
      this.#keys.delete(tokenId);
  }

  async #grant(tokenId: number, key: Key, need: number): Promise<LeaseGrant['outcome']> {
    const { store, gateway, standing, timers, clock } = this.#parts;
    const { era } = standing;
    const grown = key.lease;
    this.#number += grown === undefined ? 1 : 0;
    const id = grown?.id ?? `${gateway}.${this.#number}`;
    const want = Math.max(leastCalls * need, key.spending.amount(timers.monotonic()));
    const wish = { id, grow: grown !== undefined, tokenId, gateway, need, want, now: clock() };
    const grant = await store.run('grantLease', wish);
    if (grant.outcome === 'granted') {
      if (grown === undefined) {
        const usedAt = timers.monotonic();
        const figures = { left: grant.amount, held: 0, open: 0, draining: false, usedAt };
        key.lease = { id, tokenId, era, ...figures, returning: undefined };
        this.#live.set(id, key.lease);
      } else grown.left += grant.amount;
    } else if (grant.outcome === 'recalled') {
      if (grown !== undefined) this.#drain(grown);
      return 'granted';
    } else key.exactUntil = timers.monotonic() + exactMs;
    return grant.outcome;
  }

  async #returnOwn(key: Key): Promise<void> {
    key.exactUntil = this.#parts.timers.monotonic() + exactMs;
    await key.granting?.catch(() => {});
    if (key.lease !== undefined) this.#drain(key.lease);
    await this.#returned(key);
  }

  async #returned(key: Key): Promise<void> {
    // What became free while some of a lease went back goes after it.
    for (const lease of key.drained) while (lease.returning !== undefined) await lease.returning;
  }

  async #recall(tokenId: number): Promise<boolean> {
    const { store, gateway, timers } = this.#parts;
    await store.run('recallLeases', { tokenId });
    const until = timers.monotonic() + patienceMs;
    for (;;) {
      const lent = await findLent(store.read, tokenId, gateway);
      if (lent === undefined) return false;
      if (lent.unanswered === 0 || timers.monotonic() >= until || this.#stopped) return true;
      await new Promise<void>((resolve) => timers.alarm(askMs, resolve));
    }
  }

  /** Sees to it that what is free of a lease goes back, and all of it when nothing is open in it any more. */
  #drain(lease: Lease): void {
    const key = this.#keyOf(lease.tokenId);
    const isNew = !lease.draining;
    lease.draining = true;
    if (key.lease === lease) key.lease = undefined;
    if (!this.#live.has(lease.id) || lease.returning !== undefined) return;
    if (!isNew && lease.open > 0 && lease.left === lease.held) return;
    key.drained.add(lease);
    lease.returning = this.#giveBack(lease).finally(() => {
      lease.returning = undefined;
      if (!this.#live.has(lease.id)) key.drained.delete(lease);
      // What has become free meanwhile.
      else if (lease.open === 0 || lease.left > lease.held) this.#drain(lease);
    });
  }

  async #giveBack(lease: Lease): Promise<void> {
    const { store, clock, logger } = this.#parts;
    const over = lease.open === 0;
    const free = lease.left - lease.held;
    lease.left -= free;
    const amount = over ? null : free;
    if (over) this.#live.delete(lease.id);
    try {
      const there = await persist(store, 'returnLease', { id: lease.id, amount, now: clock() });
      if (!there) this.#live.delete(lease.id);
    } catch (error) {
      // What it still has goes back when nothing is open in it any more.
      logger.error({ err: error, lease: lease.id }, 'a lease of quota could not be given back');
    }
  }
}
