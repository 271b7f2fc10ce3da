import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import { otherDays } from '../log-days.ts';
import { addToFigures } from '../log-figures.ts';
import type { Db, RequestLogTable } from '../schema.ts';
import { countAffected, isPostgres } from '../statement.ts';

/** A sweep deletes up to `limit` rows that were closed before a time, in epoch milliseconds. */
type Sweep = { closedBefore: number; limit: number };

/** Deletes reservations that were refunded since their gateway was lost. Returns how many. */
export function sweepReservations(trx: Db, { closedBefore, limit }: Sweep): Promise<number> {
  // Several gateways sweep at once, each its own part.
  const locking = isPostgres(trx) ? sql`for update skip locked` : sql``;
  const sweep = sql`
    delete from ledger where request_id in (
      select request_id from ledger where closed_at < ${closedBefore} order by closed_at limit ${limit} ${locking})`;
  return countAffected(trx, sweep);
}

/** Number of entries to read for each one to delete, since ids are almost in the order of time. */
const readPerDeleted = 5;
/** The default partition has entries of any time, but few. */
const maxReadOfOtherDays = 1_000_000;

/** Deletes the oldest entries of the log, on PostgreSQL of the default partition, and adds them to the sums. Returns how many. */
export async function sweepLog(trx: Db, { closedBefore, limit }: Sweep): Promise<number> {
  const [log, maxRead] = isPostgres(trx)
    ? ([otherDays, maxReadOfOtherDays] as const)
    : (['request_log', limit * readPerDeleted] as const);
  const table = sql.table(log);
  const { rows: old } = await sql<{ id: number }>`
    select id from (select id, created_at from ${table} order by id limit ${maxRead}) as first
    where created_at < ${Math.floor(closedBefore / 1000)} order by id limit ${limit}`.execute(trx);
  if (old.length === 0) return 0;
  // Several gateways sweep at once, each its own part.
  const locking = isPostgres(trx) ? sql`for update skip locked` : sql``;
  const { rows: swept } = await sql<SweptEntry>`
    select id, token_id, quota, unlimited, wallet, debt from ${table}
    where id in (${sql.join(old.map(({ id }) => id))}) ${locking}`.execute(trx);
  if (swept.length === 0) return 0;
  const entries = sql<SqlBool>`id in (${sql.join(swept.map(({ id }) => id))})`;
  await addSwept(trx, swept);
  await addUncounted(trx, entries, log);
  await sql`delete from ${table} where ${entries}`.execute(trx);
  return swept.length;
}

type SweptEntry = Pick<
  Selectable<RequestLogTable>,
  'id' | 'token_id' | 'quota' | 'unlimited' | 'wallet' | 'debt'
>;

/** Adds the charges of entries to the sums of their keys. */
async function addSwept(trx: Db, entries: readonly SweptEntry[]): Promise<void> {
  const totals = new Map<
    number,
    Record<'charged' | 'spent' | 'debt' | 'walletSpent' | 'walletDebt', number>
  >();
  for (const { token_id: id, quota, unlimited, wallet, debt } of entries) {
    if (quota === 0 && debt === 0) continue;
    const total = totals.get(id) ?? { charged: 0, spent: 0, debt: 0, walletSpent: 0, walletDebt: 0 };
    totals.set(id, {
      charged: total.charged + quota,
      spent: total.spent + (unlimited === 1 ? 0 : quota),
      debt: total.debt + debt,
      walletSpent: total.walletSpent + quota * wallet,
      walletDebt: total.walletDebt + debt * wallet,
    });
  }
  // In the order of ids, so that two sweeps do not deadlock.
  for (const [tokenId, total] of [...totals].sort(([left], [right]) => left - right)) {
    const { charged, spent, debt, walletSpent, walletDebt } = total;
    await sql`
      insert into swept_totals (token_id, charged, spent, debt, wallet_spent, wallet_debt)
      values (${tokenId}, ${charged}, ${spent}, ${debt}, ${walletSpent}, ${walletDebt})
      on conflict (token_id) do update set charged = swept_totals.charged + excluded.charged,
        spent = swept_totals.spent + excluded.spent, debt = swept_totals.debt + excluded.debt,
        wallet_spent = swept_totals.wallet_spent + excluded.wallet_spent,
        wallet_debt = swept_totals.wallet_debt + excluded.wallet_debt`.execute(trx);
  }
}

/** Adds entries that are about to be deleted to the sums by hour, unless the roll-up has added them. */
async function addUncounted(trx: Db, entries: RawBuilder<SqlBool>, log: string): Promise<void> {
  const { rolled_to: mark } = await trx
    .selectFrom('log_figures_mark')
    .select('rolled_to')
    // Blocks the roll-up until they are deleted.
    .$if(isPostgres(trx), (query) => query.forShare())
    .executeTakeFirstOrThrow();
  await addToFigures(trx, sql`id > ${mark} and ${entries}`, log);
}
