import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { otherDays } from '../log-days.ts';
import { addToFigures } from '../log-figures.ts';
import type { Database } from '../schema.ts';
import { isPostgres } from '../statement.ts';
import type { Command } from './command.ts';

/** A sweep deletes up to `limit` rows that were closed before a time. */
export interface Sweep {
  /** Epoch milliseconds. */
  closedBefore: number;
  limit: number;
}

/** Deletes reservations that were refunded since their gateway was lost. Returns how many. */
export const sweepReservations: Command<Sweep, number> = async (trx, { closedBefore, limit }) => {
  const { numDeletedRows } = await trx
    .deleteFrom('ledger')
    .where('request_id', 'in', (db) =>
      db
        .selectFrom('ledger')
        .select('request_id')
        .where('closed_at', '<', closedBefore)
        .orderBy('closed_at')
        .limit(limit)
        // Several gateways sweep at once, each its own part.
        .$if(isPostgres(trx), (query) => query.forUpdate().skipLocked()),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
};

/** Entries that are read for each that can be deleted: ids are almost in the order of time. */
const readPerDeleted = 5;
/** The default partition has entries of any time, but few. */
const maxReadOfOtherDays = 1_000_000;

/**
 * Deletes the oldest entries of the log and adds their charges to the sums by key and by hour. Returns how many. On PostgreSQL only
 * entries of the default partition: those of other days are dropped with their partition.
 */
export const sweepLog: Command<Sweep, number> = async (trx, { closedBefore, limit }) => {
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
    select id, token_id, quota, unlimited, debt from ${table}
    where id in (${sql.join(old.map(({ id }) => id))}) ${locking}`.execute(trx);
  if (swept.length === 0) return 0;
  const entries = sql<SqlBool>`id in (${sql.join(swept.map(({ id }) => id))})`;
  await addSwept(trx, swept);
  await addUncounted(trx, entries, log);
  await sql`delete from ${table} where ${entries}`.execute(trx);
  return swept.length;
};

interface SweptEntry {
  id: number;
  token_id: number;
  quota: number;
  unlimited: 0 | 1;
  debt: number;
}

/** Adds the charges of entries to the sums of their keys. */
async function addSwept(trx: Kysely<Database>, entries: readonly SweptEntry[]): Promise<void> {
  const totals = new Map<number, { charged: number; spent: number; debt: number }>();
  for (const { token_id: id, quota, unlimited, debt } of entries) {
    if (quota === 0 && debt === 0) continue;
    const total = totals.get(id) ?? { charged: 0, spent: 0, debt: 0 };
    totals.set(id, {
      charged: total.charged + quota,
      spent: total.spent + (unlimited === 1 ? 0 : quota),
      debt: total.debt + debt,
    });
  }
  // In the order of ids, so that two sweeps do not deadlock.
  for (const [tokenId, { charged, spent, debt }] of [...totals].sort(([left], [right]) => left - right)) {
    await trx
      .insertInto('swept_totals')
      .values({ token_id: tokenId, charged, spent, debt })
      .onConflict((conflict) =>
        conflict.column('token_id').doUpdateSet(({ ref, eb }) => ({
          charged: eb(ref('swept_totals.charged'), '+', charged),
          spent: eb(ref('swept_totals.spent'), '+', spent),
          debt: eb(ref('swept_totals.debt'), '+', debt),
        })),
      )
      .execute();
  }
}

/** Adds entries that are about to be deleted to the sums by hour, unless the roll-up has added them. */
async function addUncounted(trx: Kysely<Database>, entries: RawBuilder<SqlBool>, log: string): Promise<void> {
  const { rolled_to: mark } = await trx
    .selectFrom('log_figures_mark')
    .select('rolled_to')
    // Keeps the roll-up from moving the mark over them until they are deleted.
    .$if(isPostgres(trx), (query) => query.forShare())
    .executeTakeFirstOrThrow();
  await addToFigures(trx, sql`id > ${mark} and ${entries}`, log);
}
