import { type Kysely, sql } from 'kysely';
import { dayOf, onDays } from '../log-days.ts';
import { lockedRowsOf, rowsOf } from '../rows.ts';
import type { Database } from '../schema.ts';
import { kept, unwaited } from '../statement.ts';
import type { Command } from './command.ts';
import { type LogEntry, writeEntries } from './log-entries.ts';

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
  /** What it cost, at most what was held. */
  charged: number;
  /** What goes back to the key's balance of the rest of the hold: nothing, where the lease goes on. */
  returned: number;
  /** When it ended, in epoch milliseconds: each time that it is tried to be written down, the same. */
  endedAt: number;
  log: LogEntry;
}

export interface BookedCalls {
  /** For each call, what its key has left at the most where its lease is gone; null: it was written down before. */
  charged: (number | null)[];
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
export const bookCalls: Command<{ calls: readonly BookedCall[] }, BookedCalls> = async (trx, { calls }) => {
  const charged = new Map<string, number>();
  for (const call of calls) charged.set(call.requestId, call.charged);
  const fresh = await withoutWritten(trx, calls);
  const gone = await lowerLeases(trx, fresh);
  const orphans = fresh.filter(({ lease }) => lease !== null && gone.has(lease));
  const balances = await lockBalances(trx, orphans);
  for (const call of orphans) {
    const left = balances.get(call.tokenId) ?? 0;
    const amount = Math.min(call.charged, left);
    balances.set(call.tokenId, left - amount);
    charged.set(call.requestId, amount);
  }
  const chargeOf = (call: BookedCall) => charged.get(call.requestId) ?? 0;
  await writeEntries(
    trx,
    fresh.map((call) => ({
      requestId: call.requestId,
      userId: call.userId,
      tokenId: call.tokenId,
      model: call.model,
      unit: call.unit,
      quota: chargeOf(call),
      held: call.held,
      unlimited: call.lease === null ? 1 : 0,
      log: call.log,
      now: call.endedAt,
    })),
  );
  await adjustTokens(trx, fresh, chargeOf, gone);
  const written = new Set(fresh.map(({ requestId }) => requestId));
  return {
    charged: calls.map((call) => (written.delete(call.requestId) ? chargeOf(call) : null)),
    gone: [...gone],
  };
};

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
    join request_log l on l.request_id = r.request_id and l.held is not null
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
  const { rows } = await sql<{ id: string }>`
    update quota_leases set remaining = quota_leases.remaining - s.amount
    from ${lockedRowsOf(trx, 'quota_leases', { id: 'text', amount: 'bigint' }, sums)} as s
    where quota_leases.id = s.id returning quota_leases.id ${kept}`.execute(trx);
  for (const { id } of rows) amounts.delete(id);
  return new Set(amounts.keys());
}

/** What the keys of some calls have left; it stays so. */
async function lockBalances(
  trx: Kysely<Database>,
  calls: readonly BookedCall[],
): Promise<Map<number, number>> {
  const balances = new Map<number, number>();
  for (const id of new Set(calls.map(({ tokenId }) => tokenId).sort((left, right) => left - right))) {
    const row = await trx
      .updateTable('tokens')
      .set((eb) => ({ used_quota: eb.ref('used_quota') }))
      .where('id', '=', id)
      .returning('remain_quota')
      .executeTakeFirst();
    balances.set(id, Math.max(0, row?.remain_quota ?? 0));
  }
  return balances;
}

/** Last, since these rows are the ones that other processes wait for. */
async function adjustTokens(
  trx: Kysely<Database>,
  calls: readonly BookedCall[],
  chargeOf: (call: BookedCall) => number,
  gone: ReadonlySet<string>,
): Promise<void> {
  const sums = new Map<number, { id: number; used: number; remain: number; leased: number }>();
  for (const call of calls) {
    const sum = sums.get(call.tokenId) ?? { id: call.tokenId, used: 0, remain: 0, leased: 0 };
    const charged = chargeOf(call);
    sum.used += charged;
    if (call.lease !== null && gone.has(call.lease)) sum.remain -= charged;
    else if (call.lease !== null) {
      sum.leased -= charged + call.returned;
      sum.remain += call.returned;
    }
    sums.set(call.tokenId, sum);
  }
  const rows = [...sums.values()];
  const columns = { id: 'bigint', used: 'bigint', remain: 'bigint', leased: 'bigint' } as const;
  await sql`
    update tokens set used_quota = tokens.used_quota + s.used, remain_quota = tokens.remain_quota + s.remain,
      leased_quota = tokens.leased_quota + s.leased
    from ${lockedRowsOf(trx, 'tokens', columns, rows)} as s where tokens.id = s.id ${unwaited} ${kept}`.execute(
    trx,
  );
}
