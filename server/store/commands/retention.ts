import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { dayOf, onDaysOrUndated, otherDays, undated } from '../log-days.ts';
import { addToFigures } from '../log-figures.ts';
import type { Database } from '../schema.ts';
import { isPostgres } from '../statement.ts';
import type { Command } from './command.ts';

/**
 * Deletes so many of the oldest rows of the ledger that were closed before a time, with their log entries, and says how many: those of
 * gateways of versions before, and what was given back of gateways that never had their say. What they cost is added up by
 * key, so that balances can be proved without them.
 */
export const sweepBooks: Command<{ closedBefore: number; limit: number }, number> = async (
  trx,
  { closedBefore, limit },
) => {
  const gone = await trx
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
    .returning(['request_id', 'token_id', 'state', 'charged', 'unlimited', 'closed_at'])
    .execute();
  if (gone.length === 0) return 0;
  await addSwept(
    trx,
    gone.map(({ state, charged, ...row }) => ({
      ...row,
      charged: state === 'settled' ? (charged ?? 0) : 0,
      debt: 0,
    })),
  );
  const ids = gone.map(({ request_id: id }) => id);
  // An entry is of the time at which its reservation was closed.
  const days = gone.map(({ closed_at: closed }) => dayOf(closed ?? 0));
  const entries = sql<SqlBool>`request_id in (${sql.join(ids)}) and held is null
    and ${onDaysOrUndated(trx, Math.min(...days), Math.max(...days))}`;
  await keepFigures(trx, entries);
  await trx.deleteFrom('request_log').where(entries).execute();
  return gone.length;
};

/** Entries that are looked at for each that may go: those that come before them are hardly ever younger. */
const looks = 5;

/**
 * Deletes so many of the oldest entries of the log that are whole records and were written before a time, and says how many, as
 * above. On PostgreSQL only those that lie in no partition of a day: such a one is dropped as a whole.
 */
export const sweepLog: Command<{ closedBefore: number; limit: number }, number> = async (trx, args) => {
  if (!isPostgres(trx)) return sweepEntries(trx, { ...args, log: 'request_log', looked: args.limit * looks });
  const undatedOnes = await sweepEntries(trx, { ...args, log: undated, looked: args.limit * looks });
  const limit = args.limit - undatedOnes;
  if (limit === 0) return undatedOnes;
  // Of any time, but few.
  return undatedOnes + (await sweepEntries(trx, { ...args, limit, log: otherDays, looked: mostOther }));
};

const mostOther = 1_000_000;

/** Of the first ones in the log, or in a partition of it, as many as are `looked` at. */
async function sweepEntries(
  trx: Kysely<Database>,
  {
    log,
    closedBefore,
    limit,
    looked,
  }: {
    log: 'request_log' | typeof undated | typeof otherDays;
    closedBefore: number;
    limit: number;
    looked: number;
  },
): Promise<number> {
  const table = sql.table(log);
  const { rows: old } = await sql<{ id: number }>`
    select id from (select id, created_at, held from ${table} order by id limit ${looked}) as first
    where held is not null and created_at < ${Math.floor(closedBefore / 1000)} order by id limit ${limit}`.execute(
    trx,
  );
  if (old.length === 0) return 0;
  // Several gateways sweep at once, each its own part.
  const locking = isPostgres(trx) ? sql`for update skip locked` : sql``;
  const { rows: found } = await sql<Swept & { id: number }>`
    select id, token_id, quota as charged, unlimited, debt from ${table}
    where id in (${sql.join(old.map(({ id }) => id))}) ${locking}`.execute(trx);
  if (found.length === 0) return 0;
  const entries = sql<SqlBool>`id in (${sql.join(found.map(({ id }) => id))})`;
  await addSwept(trx, found);
  await keepFigures(trx, entries, log);
  await sql`delete from ${table} where ${entries}`.execute(trx);
  return found.length;
}

interface Swept {
  token_id: number;
  charged: number;
  unlimited: number | null;
  debt: number;
}

async function addSwept(trx: Kysely<Database>, gone: readonly Swept[]): Promise<void> {
  const totals = new Map<number, { charged: number; spent: number; debt: number }>();
  for (const { token_id: id, charged, unlimited, debt } of gone) {
    if (charged === 0 && debt === 0) continue;
    const total = totals.get(id) ?? { charged: 0, spent: 0, debt: 0 };
    totals.set(id, {
      charged: total.charged + charged,
      spent: total.spent + (unlimited === 1 ? 0 : charged),
      debt: total.debt + debt,
    });
  }
  // In one order, so that two that do this at once do not wait for each other in a circle.
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

/** Adds those of the entries to the figures that are to go before they were. */
async function keepFigures(
  trx: Kysely<Database>,
  entries: RawBuilder<SqlBool>,
  log = 'request_log',
): Promise<void> {
  const { rolled_to: mark } = await trx
    .selectFrom('log_figures_mark')
    .select('rolled_to')
    // It must not move over them until they are gone.
    .$if(isPostgres(trx), (query) => query.forShare())
    .executeTakeFirstOrThrow();
  await addToFigures(trx, sql`id > ${mark} and ${entries}`, log);
}
