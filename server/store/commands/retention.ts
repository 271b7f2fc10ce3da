import { type Kysely, sql } from 'kysely';
import { addToFigures } from '../log-figures.ts';
import type { Database } from '../schema.ts';
import { isPostgres } from '../statement.ts';
import type { Command } from './command.ts';

/**
 * Deletes so many of the oldest reservations that were closed before a time, with their log entries, and says how many.
 * What they cost is added up by key, so that balances can be proved without them.
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
    .returning(['request_id', 'token_id', 'state', 'charged', 'unlimited'])
    .execute();
  if (gone.length === 0) return 0;
  await addSwept(
    trx,
    gone.map(({ state, charged, ...row }) => ({ ...row, charged: state === 'settled' ? (charged ?? 0) : 0 })),
  );
  const ids = gone.map(({ request_id: id }) => id);
  await keepFigures(trx, ids);
  await trx.deleteFrom('request_log').where('request_id', 'in', ids).execute();
  return gone.length;
};

/** Entries that are looked at for each that may go: those that come before them are hardly ever younger. */
const looks = 5;

/**
 * Deletes so many of the oldest entries of the log that are booked by themselves and were written before a time, and says how
 * many, as above.
 */
export const sweepBookedCalls: Command<{ closedBefore: number; limit: number }, number> = async (
  trx,
  { closedBefore, limit },
) => {
  const { rows: old } = await sql<{ id: number }>`
    select id from (select id, created_at, held from request_log order by id limit ${limit * looks}) as first
    where held is not null and created_at < ${Math.floor(closedBefore / 1000)} order by id limit ${limit}`.execute(
    trx,
  );
  if (old.length === 0) return 0;
  const found = await trx
    .selectFrom('request_log')
    .select(['id', 'request_id', 'token_id', 'quota as charged', 'unlimited'])
    .where(
      'id',
      'in',
      old.map(({ id }) => id),
    )
    // Several gateways sweep at once, each its own part.
    .$if(isPostgres(trx), (query) => query.forUpdate().skipLocked())
    .execute();
  if (found.length === 0) return 0;
  await addSwept(trx, found);
  await keepFigures(
    trx,
    found.map(({ request_id: id }) => id),
  );
  await trx
    .deleteFrom('request_log')
    .where(
      'id',
      'in',
      found.map(({ id }) => id),
    )
    .execute();
  return found.length;
};

interface Swept {
  token_id: number;
  charged: number;
  unlimited: number | null;
}

async function addSwept(trx: Kysely<Database>, gone: readonly Swept[]): Promise<void> {
  const totals = new Map<number, { charged: number; spent: number }>();
  for (const { token_id: id, charged, unlimited } of gone) {
    if (charged === 0) continue;
    const total = totals.get(id) ?? { charged: 0, spent: 0 };
    totals.set(id, {
      charged: total.charged + charged,
      spent: total.spent + (unlimited === 1 ? 0 : charged),
    });
  }
  // In one order, so that two that do this at once do not wait for each other in a circle.
  for (const [tokenId, { charged, spent }] of [...totals].sort(([left], [right]) => left - right)) {
    await trx
      .insertInto('swept_totals')
      .values({ token_id: tokenId, charged, spent })
      .onConflict((conflict) =>
        conflict.column('token_id').doUpdateSet(({ ref, eb }) => ({
          charged: eb(ref('swept_totals.charged'), '+', charged),
          spent: eb(ref('swept_totals.spent'), '+', spent),
        })),
      )
      .execute();
  }
}

/** Adds those of the entries to the figures that are to go before they were. */
async function keepFigures(trx: Kysely<Database>, requestIds: readonly string[]): Promise<void> {
  const { rolled_to: mark } = await trx
    .selectFrom('log_figures_mark')
    .select('rolled_to')
    // It must not move over them until they are gone.
    .$if(isPostgres(trx), (query) => query.forShare())
    .executeTakeFirstOrThrow();
  await addToFigures(trx, sql`id > ${mark} and request_id in (${sql.join(requestIds)})`);
}
