import { sql } from 'kysely';
import { addToFigures } from '../log-figures.ts';
import { isPostgres } from '../statement.ts';
import type { Command } from './command.ts';

/** An end of the log: no entry up to this number is written any more. */
export interface LogEnd {
  id: number;
  /** On PostgreSQL only when every transaction below this number is over: what was under way may have taken a number. */
  below: string | null;
}

/** How many entries were added up; `early`: the end is none yet; `lost`: it never will be; `elsewhere`: another one is at it. */
export type RolledUp = number | 'early' | 'lost' | 'elsewhere';

/**
 * Adds the next entries of the log, at most so many and up to `end`, to the figures, and moves the mark with them.
 * It goes by their numbers and not by their time, since a clock may be set back.
 */
export const rollUpLog: Command<{ end: LogEnd; limit: number }, RolledUp> = async (trx, { end, limit }) => {
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
    // A server that came back after a crash, or from a copy, may count from before.
    if (rows[0]?.lost === true) return 'lost';
    if (rows[0]?.over !== true) return 'early';
  }
  const { rows } = await sql<{ entries: number; last: number | null }>`
    select count(*) as entries, max(id) as last from (
      select id from request_log where id > ${from} and id <= ${end.id} order by id limit ${limit}) as e`.execute(
    trx,
  );
  const { entries = 0, last = null } = rows[0] ?? {};
  const to = entries < limit || last === null ? end.id : last;
  if (entries > 0) await addToFigures(trx, sql`id > ${from} and id <= ${to}`);
  await trx.updateTable('log_figures_mark').set({ rolled_to: to }).execute();
  return entries;
};
