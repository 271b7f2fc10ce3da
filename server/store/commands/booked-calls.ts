import { type Kysely, sql } from 'kysely';
import { dayOf, onDays } from '../log-days.ts';
import { lockedRowsOf, rowsOf } from '../rows.ts';
import type { Database } from '../schema.ts';
import { execute } from '../statement.ts';
import type { Command } from './command.ts';
import type { Settlement } from './ledger.ts';
import { correctEntries, type LogEntry, writeEntries } from './log-entries.ts';

/** A call whose hold was in its gateway's memory, and is over. */
export interface BookedCall {
  requestId: string;
  tokenId: number;
  userId: number;
  model: string;
  unit: string;
  /** The lease that it was held in; null: its key has no limit. */
  lease: string | null;
  held: number;
  /** Cost that its lease covers; all of it where its key has no limit. */
  charged: number;
  /** Cost beyond that, to be taken from the key's balance. Default: 0. */
  beyond?: number;
  /** What goes back to the key's balance of the rest of the hold: nothing, where the lease goes on. */
  returned: number;
  /** When it ended, in epoch milliseconds: each time that it is tried to be written down, the same. */
  endedAt: number;
  log: LogEntry;
}

export interface BookedCalls {
  /** For each call; null: it was written down before. */
  settlements: (Settlement | null)[];
  /** The leases that are not there any more, since their gateway was thought gone. */
  gone: string[];
}

/**
 * Writes down calls, once each by their request id: an entry of the log, which is all of its books, less in its lease, and
 * more used by its key; for each lease and key one change, however many calls.
 *
 * Why once, though on PostgreSQL no index reaches over all days: a call is held in the memory of one gateway, ends there once, and
 * is never booked by another one, since what a lease has left goes back without its calls. From its end on it carries
 * `endedAt`, and so its day, through every try, whatever the clock says meanwhile. A day lies in one partition at any moment,
 * which PostgreSQL itself holds: none is added for a day of which entries lie elsewhere, and they move in the same transaction.
 * In that partition an index allows an id once; what was written by an earlier try, whose commit nobody acknowledged, is
 * found there before. A partition is dropped only when its day is older than books are kept.
 */
export const settleCalls: Command<{ calls: readonly BookedCall[] }, BookedCalls> = async (trx, { calls }) => {
  const fresh = await withoutWritten(trx, calls);
  const gone = await lowerLeases(trx, fresh);
  await writeEntries(
    trx,
    fresh.map((call) => ({
      requestId: call.requestId,
      userId: call.userId,
      tokenId: call.tokenId,
      model: call.model,
      unit: call.unit,
      quota: costOf(call),
      debt: 0,
      reserved: call.held,
      unlimited: call.lease === null ? 1 : 0,
      log: call.log,
      now: call.endedAt,
    })),
  );
  const settlements = await settleFromBalances(trx, fresh, gone);
  const settlementOf = (call: BookedCall) =>
    settlements.get(call.requestId) ?? { charged: costOf(call), debt: 0 };
  const days = calls.map(({ endedAt }) => dayOf(endedAt));
  await correctEntries(
    trx,
    [...settlements].flatMap(([id, { charged, debt }]) =>
      debt > 0 ? [{ request_id: id, quota: charged, debt }] : [],
    ),
    { first: Math.min(...days), last: Math.max(...days) },
  );
  await adjustTokens(trx, fresh, settlementOf, gone);
  const written = new Set(fresh.map(({ requestId }) => requestId));
  return {
    settlements: calls.map((call) => (written.delete(call.requestId) ? settlementOf(call) : null)),
    gone: [...gone],
  };
};

const costOf = ({ charged, beyond = 0 }: BookedCall) => charged + beyond;

/** Each once, without those that are written down. A gateway books its own calls only, one batch after the other. */
async function withoutWritten(trx: Kysely<Database>, calls: readonly BookedCall[]): Promise<BookedCall[]> {
  if (calls.length === 0) return [];
  const ids = rowsOf(
    trx,
    { request_id: 'text' },
    calls.map(({ requestId }) => ({ request_id: requestId })),
  );
  const days = calls.map(({ endedAt }) => dayOf(endedAt));
  const { rows } = await sql<{ request_id: string }>`
    select r.request_id from ${ids} as r
    join request_log l on l.request_id = r.request_id
      and ${onDays(trx, Math.min(...days), Math.max(...days))}`.execute(trx);
  const seen = new Set(rows.map(({ request_id: id }) => id));
  return calls.filter(({ requestId }) => !seen.has(requestId) && seen.add(requestId));
}

/** Takes out of each lease what its calls cost and give back. Gives the leases that are not there any more. */
async function lowerLeases(trx: Kysely<Database>, calls: readonly BookedCall[]): Promise<Set<string>> {
  const amounts = new Map<string, number>();
  for (const { lease, charged, returned } of calls)
    if (lease !== null) amounts.set(lease, (amounts.get(lease) ?? 0) + charged + returned);
  if (amounts.size === 0) return new Set();
  const sums = [...amounts].map(([id, amount]) => ({ id, amount }));
  const lower = sql<{ id: string }>`
    update quota_leases set remaining = quota_leases.remaining - s.amount
    from ${lockedRowsOf(trx, 'quota_leases', { id: 'text', amount: 'bigint' }, sums)} as s
    where quota_leases.id = s.id returning quota_leases.id`;
  const { rows } = await execute(trx, lower, { prepared: true });
  for (const { id } of rows) amounts.delete(id);
  return new Set(amounts.keys());
}

/**
 * Settles the calls whose cost their lease does not cover, and those whose lease is gone: the balance pays as much as
 * it has, and the rest is a debt of the key. It locks keys, so it comes after the log, as in every other transaction.
 */
async function settleFromBalances(
  trx: Kysely<Database>,
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
    const left = balances.get(call.tokenId) ?? 0;
    const taken = Math.min(amount, left);
    balances.set(call.tokenId, left - taken);
    const debt = amount - taken;
    settlements.set(call.requestId, { charged: costOf(call) - debt, debt });
  }
  return settlements;
}

/**
 * Balances of the keys of the calls, at least 0, which stay the same until the end of the transaction. Locks all rows
 * that the transaction changes later, in one order, so that two transactions do not deadlock.
 */
async function lockBalances(
  trx: Kysely<Database>,
  calls: readonly BookedCall[],
): Promise<Map<number, number>> {
  const ids = [...new Set(calls.map(({ tokenId }) => tokenId))].map((id) => ({ id }));
  const lock = sql<{ id: number; remain_quota: number }>`
    update tokens set used_quota = tokens.used_quota
    from ${lockedRowsOf(trx, 'tokens', { id: 'bigint' }, ids)} as s
    where tokens.id = s.id returning tokens.id, tokens.remain_quota`;
  const { rows } = await execute(trx, lock, { prepared: true });
  return new Map(rows.map(({ id, remain_quota: left }) => [id, Math.max(0, left)]));
}

/** Last, since these rows are the ones that other processes wait for. */
async function adjustTokens(
  trx: Kysely<Database>,
  calls: readonly BookedCall[],
  settlementOf: (call: BookedCall) => Settlement,
  gone: ReadonlySet<string>,
): Promise<void> {
  const sums = new Map<number, { id: number; used: number; remain: number; leased: number; debt: number }>();
  for (const call of calls) {
    const sum = sums.get(call.tokenId) ?? { id: call.tokenId, used: 0, remain: 0, leased: 0, debt: 0 };
    const { charged, debt } = settlementOf(call);
    sum.used += charged;
    sum.debt += debt;
    if (call.lease !== null && gone.has(call.lease)) sum.remain -= charged;
    else if (call.lease !== null) {
      sum.leased -= call.charged + call.returned;
      sum.remain += call.returned - (charged - call.charged);
    }
    sums.set(call.tokenId, sum);
  }
  const rows = [...sums.values()];
  const columns = {
    id: 'bigint',
    used: 'bigint',
    remain: 'bigint',
    leased: 'bigint',
    debt: 'bigint',
  } as const;
  const update = sql`
    update tokens set used_quota = tokens.used_quota + s.used, remain_quota = tokens.remain_quota + s.remain,
      leased_quota = tokens.leased_quota + s.leased, debt = tokens.debt + s.debt
    from ${lockedRowsOf(trx, 'tokens', columns, rows)} as s where tokens.id = s.id`;
  await execute(trx, update, { prepared: true, pipelined: true });
}
