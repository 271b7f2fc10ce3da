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
  const totals = new Map<number, { charged: number; spent: number }>();
  for (const { token_id: id, state, charged, unlimited } of gone) {
    if (state !== 'settled' || charged === null) continue;
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
  const ids = gone.map(({ request_id: id }) => id);
  await keepFigures(trx, ids);
  await trx.deleteFrom('request_log').where('request_id', 'in', ids).execute();
  return gone.length;
};

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
