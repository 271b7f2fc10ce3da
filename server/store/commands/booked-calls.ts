import { sql } from 'kysely';
import { onDaysOf } from '../log-days.ts';
import { lockedRowsOf, rowsOf } from '../rows.ts';
import type { Db } from '../schema.ts';
import { execute } from '../statement.ts';
import type { Settlement } from './ledger.ts';
import { correctEntries, type LogEntry, writeEntries } from './log-entries.ts';

/** A finished call whose quota was reserved in the memory of its gateway. */
export interface BookedCall {
  requestId: string;
  tokenId: number;
  userId: number;
  model: string;
  unit: string;
  /** The lease that has the reservation; null: the key has no limit. */
  lease: string | null;
  held: number;
  /** Cost that the lease covers; the complete cost if the key has no limit. */
  charged: number;
  /** Further cost, which the key's balance pays. Default: 0. */
  beyond?: number;
  /** The rest of the reservation, if it returns to the key's balance. 0 if it stays in the lease. */
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
 * Settles calls, each exactly once by its request id: writes their log entries and charges their leases and keys, with one update for
 * each lease and key.
 *
 * On PostgreSQL a unique index covers one partition only, so one call must never have two days: only the gateway of a call settles it,
 * and each attempt has the same `endedAt`. A new partition takes the entries of its day in the same transaction, and a partition is
 * dropped only after the retention time.
 */
export async function settleCalls(
  trx: Db,
  { calls }: { calls: readonly BookedCall[] },
): Promise<BookedCalls> {
  const fresh = await withoutRecorded(trx, calls);
  const gone = await chargeLeases(trx, fresh);
  const entries = fresh.map((call) => {
    const { requestId, userId, tokenId, model, unit, held: reserved, log, endedAt: now } = call;
    const [quota, unlimited] = [costOf(call), call.lease === null ? 1 : 0] as const;
    return { requestId, userId, tokenId, model, unit, quota, debt: 0, reserved, unlimited, log, now };
  });
  await writeEntries(trx, entries);
  const settlements = await settleFromBalances(trx, fresh, gone);
  const settlementOf = (call: BookedCall) =>
    settlements.get(call.requestId) ?? { charged: costOf(call), debt: 0 };
  const corrections = [...settlements].flatMap(([requestId, { charged, debt }]) =>
    debt > 0 ? [{ requestId, quota: charged, debt }] : [],
  );
  await correctEntries(trx, corrections, calls.map(endOf));
  await chargeTokens(trx, fresh, settlementOf, gone);
  const recorded = new Set(fresh.map(({ requestId }) => requestId));
  return {
    settlements: calls.map((call) => (recorded.delete(call.requestId) ? settlementOf(call) : null)),
    gone: [...gone],
  };
}

const costOf = ({ charged, beyond = 0 }: BookedCall) => charged + beyond;
const endOf = ({ endedAt }: BookedCall) => endedAt;

/** Removes duplicates and recorded calls. No other transaction records them now, since a gateway writes one batch at a time. */
async function withoutRecorded(trx: Db, calls: readonly BookedCall[]): Promise<BookedCall[]> {
  if (calls.length === 0) return [];
  const ids = calls.map(({ requestId }) => ({ requestId }));
  const { rows } = await sql<{ request_id: string }>`
    select r.request_id from ${rowsOf(trx, ids)} as r
    join request_log l on l.request_id = r.request_id and ${onDaysOf(trx, calls.map(endOf))}`.execute(trx);
  const seen = new Set(rows.map(({ request_id: id }) => id));
  return calls.filter(({ requestId }) => !seen.has(requestId) && seen.add(requestId));
}

/** Takes the cost and the returned quota of calls out of their leases. Returns the leases that do not exist any more. */
async function chargeLeases(trx: Db, calls: readonly BookedCall[]): Promise<Set<string>> {
  const amounts = new Map<string, number>();
  for (const { lease, charged, returned } of calls)
    if (lease !== null) amounts.set(lease, (amounts.get(lease) ?? 0) + charged + returned);
  if (amounts.size === 0) return new Set();
  const sums = [...amounts].map(([lease, amount]) => ({ lease, amount }));
  const update = sql<{ id: string }>`
    update quota_leases set remaining = quota_leases.remaining - s.amount
    from ${lockedRowsOf(trx, 'quota_leases', sums)} as s
    where quota_leases.id = s.lease returning quota_leases.id`;
  const { rows } = await execute(trx, update, { prepared: true });
  for (const { id } of rows) amounts.delete(id);
  return new Set(amounts.keys());
}

/** Settles the cost that no lease covers from the balance, and the rest as a debt. Follows the log, since it locks keys. */
async function settleFromBalances(
  trx: Db,
  calls: readonly BookedCall[],
  gone: ReadonlySet<string>,
): Promise<Map<string, Settlement>> {
  const settlements = new Map<string, Settlement>();
  const amountOf = ({ lease, charged, beyond = 0 }: BookedCall) =>
    lease === null ? 0 : beyond + (gone.has(lease) ? charged : 0);
  if (calls.every((call) => amountOf(call) === 0)) return settlements;
  const balances = await lockBalances(trx, calls);
  for (const call of calls) {
    const amount = amountOf(call);
    if (amount === 0) continue;
    const balance = balances.get(call.tokenId) ?? 0;
    const paid = Math.min(amount, balance);
    balances.set(call.tokenId, balance - paid);
    const debt = amount - paid;
    settlements.set(call.requestId, { charged: costOf(call) - debt, debt });
  }
  return settlements;
}

/** Locks the keys of the calls, in the order of ids to avoid deadlocks. Returns their balances, at least 0. */
async function lockBalances(trx: Db, calls: readonly BookedCall[]): Promise<Map<number, number>> {
  const ids = [...new Set(calls.map(({ tokenId }) => tokenId))].map((tokenId) => ({ tokenId }));
  const lock = sql<{ id: number; balance: number }>`
    update tokens set used_quota = tokens.used_quota from ${lockedRowsOf(trx, 'tokens', ids)} as s
    where tokens.id = s.token_id returning tokens.id, tokens.remain_quota as balance`;
  const { rows } = await execute(trx, lock, { prepared: true });
  return new Map(rows.map(({ id, balance }) => [id, Math.max(0, balance)]));
}

/** Charges the keys. Last, since other processes wait for these rows. */
async function chargeTokens(
  trx: Db,
  calls: readonly BookedCall[],
  settlementOf: (call: BookedCall) => Settlement,
  gone: ReadonlySet<string>,
): Promise<void> {
  if (calls.length === 0) return;
  const sums = new Map<number, Record<'tokenId' | 'used' | 'remain' | 'leased' | 'debt', number>>();
  for (const call of calls) {
    const { tokenId: id, lease } = call;
    const sum = sums.get(id) ?? { tokenId: id, used: 0, remain: 0, leased: 0, debt: 0 };
    const { charged, debt } = settlementOf(call);
    sum.used += charged;
    sum.debt += debt;
    if (lease !== null && gone.has(lease)) sum.remain -= charged;
    else if (lease !== null) {
      sum.leased -= call.charged + call.returned;
      sum.remain += call.returned - (charged - call.charged);
    }
    sums.set(id, sum);
  }
  const update = sql`
    update tokens set used_quota = tokens.used_quota + s.used, remain_quota = tokens.remain_quota + s.remain,
      leased_quota = tokens.leased_quota + s.leased, debt = tokens.debt + s.debt
    from ${lockedRowsOf(trx, 'tokens', [...sums.values()])} as s where tokens.id = s.token_id`;
  await execute(trx, update, { prepared: true, pipelined: true });
}
