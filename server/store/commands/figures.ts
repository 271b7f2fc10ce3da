import { sql } from 'kysely';
import { addToFigures } from '../log-figures.ts';
import type { Db } from '../schema.ts';
import { isPostgres } from '../statement.ts';

/** An end of the log: no transaction will add an entry up to this id. */
export interface LogEnd {
  id: number;
  /** PostgreSQL: true only after all transactions below this transaction id, which can still add such entries. */
  below: string | null;
}

/** Number of added entries. `early`: `end` is not final yet; `lost`: it never will be; `elsewhere`: another gateway adds entries. */
export type RolledUp = number | 'early' | 'lost' | 'elsewhere';

/** Adds up to `limit` entries, up to `end`, to the figures. In the order of ids, since a clock can be set back. */
export async function rollUpLog(trx: Db, { end, limit }: { end: LogEnd; limit: number }): Promise<RolledUp> {
  const mark = await trx
    .selectFrom('log_figures_mark')
    .select('rolled_to')
    .$if(isPostgres(trx), (query) => query.forUpdate().skipLocked())
    .executeTakeFirst();
  if (mark === undefined) return 'elsewhere';
  const { rolled_to: from } = mark;
  if (end.id <= from) return 0;
  if (end.below !== null) {
    const { rows } = await sql<{ over: boolean; lost: boolean }>`
      select pg_snapshot_xmin(now) >= ${end.below}::xid8 as over, pg_snapshot_xmax(now) < ${end.below}::xid8 as lost
      from pg_current_snapshot() as now`.execute(trx);
    // After a crash or from a backup, the server can count from a lower transaction id.
    if (rows[0]?.lost === true) return 'lost';
    if (rows[0]?.over !== true) return 'early';
  }
  const { rows } = await sql<{ entries: number; last: number | null }>`
    select count(*) as entries, max(id) as last from (
      select id from request_log where id > ${from} and id <= ${end.id}
      order by id limit ${limit}) as e`.execute(trx);
  const { entries = 0, last = null } = rows[0] ?? {};
  const to = entries < limit || last === null ? end.id : last;
  if (entries > 0) await addToFigures(trx, sql`id > ${from} and id <= ${to}`);
  await trx.updateTable('log_figures_mark').set({ rolled_to: to }).execute();
  return entries;
}
