import { sql } from 'kysely';
import { lockedRowsOf } from '../rows.ts';
import type { Db } from '../schema.ts';
import { execute } from '../statement.ts';
import type { Settlement } from './ledger.ts';
import { correctEntries, type LogEntry, writeEntries } from './log-entries.ts';
import { lockWallets, WalletMoves } from './wallet-moves.ts';

/** A finished call whose quota was reserved in the memory of its gateway. */
export interface BookedCall {
  requestId: string;
  tokenId: number;
  userId: number;
  model: string;
  unit: string;
  /** The lease that has the reservation; null: the key has no limit and no wallet. */
  lease: string | null;
  /** Whether the key of the lease has no limit, so that only its wallet pays. Default: false. */
  unlimited?: boolean;
  held: number;
  /** Cost that the lease covers; the complete cost if the key has no limit. */
  charged: number;
  /** Further cost, which the balance of the key or of its wallet pays. Default: 0. */
  beyond?: number;
  /** The rest of the reservation, if it returns to these balances. 0 if it stays in the lease. */
  returned: number;
  /** When it ended, in epoch milliseconds. The same in every attempt to record it. */
  endedAt: number;
  log: LogEntry;
}

export interface BookedCalls {
  /** One for each call; null: the call was recorded before. */
  settlements: (Settlement | null)[];
  /** Leases that do not exist any more, since their gateway was found lost. */
  gone: string[];
}

/**
 * Settles calls, each exactly once by its request id: writes their log entries and charges their leases, keys and wallets, with one
 * update for each of them.
 *
 * On PostgreSQL a unique index covers one partition only, so one call must never have two days: only the gateway of a call settles it,
 * and each attempt has the same `endedAt`. A new partition takes the entries of its day in the same transaction, and a partition is
 * dropped only after the retention time.
 */
export async function settleCalls(
  trx: Db,
  { calls }: { calls: readonly BookedCall[] },
): Promise<BookedCalls> {
  const unique = new Map(calls.toReversed().map((call) => [call.requestId, call]));
  const written = await writeEntries(trx, [...unique.values()].reverse().map(entryOf));
  const fresh = calls.filter((call) => written.has(call.requestId) && unique.get(call.requestId) === call);
  const { wallets: leaseWallets, gone } = await chargeLeases(trx, fresh);
  const walletOf = ({ lease }: BookedCall) => (lease === null ? null : (leaseWallets.get(lease) ?? null));
  const settled = await settleFromBalances(trx, fresh, gone, walletOf);
  const settlementOf = (call: BookedCall) =>
    settled.get(call.requestId) ?? { charged: costOf(call), debt: 0, walletId: walletOf(call) };
  const corrections = fresh.flatMap((call) => {
    const { requestId } = call;
    const { charged: quota, debt, walletId } = settlementOf(call);
    const wallet = walletId === null ? 0 : 1;
    // A wallet can have been opened, or a lease can have ended, after the entries were written.
    if (debt === 0 && wallet === written.get(requestId)) return [];
    return { requestId, quota, debt, wallet } as const;
  });
  await correctEntries(trx, corrections, calls.map(endOf));
  await chargeBalances(trx, fresh, settlementOf, gone);
  const settledCalls = new Set(fresh);
  return {
    settlements: calls.map((call) => {
      if (!settledCalls.has(call)) return null;
      const { charged, debt } = settlementOf(call);
      return { charged, debt };
    }),
    gone: [...gone],
  };
}

/** The parts of a cost, and the user whose wallet pays them; null: the key does. */
interface PaidCall extends Settlement {
  walletId: number | null;
}

const isLimited = ({ lease, unlimited = false }: BookedCall) => lease !== null && !unlimited;

const costOf = ({ charged, beyond = 0 }: BookedCall) => charged + beyond;
const endOf = ({ endedAt }: BookedCall) => endedAt;

/** The log entry of a call as if its lease pays the complete cost. */
function entryOf(call: BookedCall) {
  const { requestId, userId, tokenId, model, unit, lease, held: reserved, log, endedAt: now } = call;
  const unlimited = isLimited(call) ? 0 : 1;
  const quota = costOf(call);
  return {
    requestId,
    userId,
    tokenId,
    model,
    unit,
    quota,
    debt: 0,
    reserved,
    unlimited,
    lease,
    log,
    now,
  } as const;
}

/** The leases of calls: the wallets that gave their quota, and those that do not exist any more. */
interface ChargedLeases {
  wallets: ReadonlyMap<string, number | null>;
  gone: ReadonlySet<string>;
}

/** Takes the cost and the returned quota of calls out of their leases. */
async function chargeLeases(trx: Db, calls: readonly BookedCall[]): Promise<ChargedLeases> {
  const amounts = new Map<string, number>();
  for (const { lease, charged, returned } of calls)
    if (lease !== null) amounts.set(lease, (amounts.get(lease) ?? 0) + charged + returned);
  if (amounts.size === 0) return { wallets: new Map(), gone: new Set() };
  const sums = [...amounts].map(([lease, amount]) => ({ lease, amount }));
  const update = sql<{ id: string; wallet_id: number | null }>`
    update quota_leases set remaining = quota_leases.remaining - s.amount
    from ${lockedRowsOf(trx, 'quota_leases', sums)} as s
    where quota_leases.id = s.lease returning quota_leases.id, quota_leases.wallet_id`;
  const { rows } = await execute(trx, update, { prepared: true });
  for (const { id } of rows) amounts.delete(id);
  return {
    wallets: new Map(rows.map(({ id, wallet_id }) => [id, wallet_id])),
    gone: new Set(amounts.keys()),
  };
}

/**
 * Settles the cost that no lease covers from the balance of the wallet or the key, and the rest as a debt. Follows the log, since it
 * locks keys. Returns the calls with such a cost, by request id.
 */
async function settleFromBalances(
  trx: Db,
  calls: readonly BookedCall[],
  gone: ReadonlySet<string>,
  walletOf: (call: BookedCall) => number | null,
): Promise<Map<string, PaidCall>> {
  const settled = new Map<string, PaidCall>();
  const isGone = ({ lease }: BookedCall) => lease !== null && gone.has(lease);
  const amountOf = (call: BookedCall) => {
    const { lease, charged, beyond = 0 } = call;
    return lease === null ? 0 : beyond + (isGone(call) ? charged : 0);
  };
  if (calls.every((call) => amountOf(call) === 0 && !isGone(call))) return settled;
  const keys = await lockKeys(trx, calls);
  // The wallet can have been opened after the lease ended.
  const payerOf = (call: BookedCall) =>
    isGone(call) ? (keys.get(call.tokenId)?.walletId ?? null) : walletOf(call);
  const paying = calls.filter((call) => amountOf(call) > 0 || isGone(call));
  const wallets = await lockWallets(
    trx,
    paying.flatMap((call) => payerOf(call) ?? []),
  );
  for (const call of paying) {
    const walletId = payerOf(call);
    const key = keys.get(call.tokenId);
    const available = walletId === null ? (key?.balance ?? 0) : (wallets.get(walletId) ?? 0);
    const amount = amountOf(call);
    const paid = Math.min(amount, available);
    if (walletId !== null) wallets.set(walletId, available - paid);
    else if (key !== undefined) key.balance -= paid;
    const debt = amount - paid;
    settled.set(call.requestId, { charged: costOf(call) - debt, debt, walletId });
  }
  return settled;
}

interface LockedKey {
  /** At least 0. */
  balance: number;
  /** Null: its user has no wallet. */
  walletId: number | null;
}

/** Locks the keys of the calls, in the order of ids to avoid deadlocks. */
async function lockKeys(trx: Db, calls: readonly BookedCall[]): Promise<Map<number, LockedKey>> {
  const ids = [...new Set(calls.map(({ tokenId }) => tokenId))].map((tokenId) => ({ tokenId }));
  const lock = sql<LockedKey & { id: number }>`
    update tokens set used_quota = tokens.used_quota from ${lockedRowsOf(trx, 'tokens', ids)} as s
    where tokens.id = s.token_id returning tokens.id, tokens.remain_quota as balance,
      tokens.wallet_id as "walletId"`;
  const { rows } = await execute(trx, lock, { prepared: true });
  return new Map(rows.map(({ id, balance, walletId }) => [id, { balance: Math.max(0, balance), walletId }]));
}

/** Charges the keys, then the wallets. Last, since other processes wait for these rows. */
async function chargeBalances(
  trx: Db,
  calls: readonly BookedCall[],
  settlementOf: (call: BookedCall) => PaidCall,
  gone: ReadonlySet<string>,
): Promise<void> {
  if (calls.length === 0) return;
  const sums = new Map<number, Record<'tokenId' | 'used' | 'remain' | 'leased' | 'debt', number>>();
  const wallets = new WalletMoves();
  for (const call of calls) {
    const { tokenId: id, lease } = call;
    const sum = sums.get(id) ?? { tokenId: id, used: 0, remain: 0, leased: 0, debt: 0 };
    const { charged, debt, walletId } = settlementOf(call);
    const move = { used: charged, ...movesOf(call, charged, lease !== null && gone.has(lease)) };
    sum.used += charged;
    if (isLimited(call)) {
      sum.remain += move.balance;
      sum.leased += move.leased;
    }
    if (walletId === null) sum.debt += debt;
    wallets.add(walletId, { ...move, debt });
    sums.set(id, sum);
  }
  const update = sql`
    update tokens set used_quota = tokens.used_quota + s.used, remain_quota = tokens.remain_quota + s.remain,
      leased_quota = tokens.leased_quota + s.leased, debt = tokens.debt + s.debt
    from ${lockedRowsOf(trx, 'tokens', [...sums.values()])} as s where tokens.id = s.token_id`;
  await execute(trx, update, { prepared: true, pipelined: true });
  await wallets.apply(trx);
}

/** Changes of the balance that pays for a call, and of its leased part. `paid`: the part of the complete cost that is paid. */
function movesOf({ charged, returned }: BookedCall, paid: number, isGone: boolean) {
  if (isGone) return { balance: -paid, leased: 0 };
  return { balance: returned - (paid - charged), leased: -charged - returned };
}
