import { sql } from 'kysely';
import { dayOf, onDays } from '../log-days.ts';
import type { Db } from '../schema.ts';

/** Quota that a channel spent. */
export interface ChannelSpend {
  channel: string;
  quota: number;
}

/** Maximum number of log entries that are not in the figures yet and are read. RollUp adds entries every few seconds. */
const maxUnrolled = 200_000;

/**
 * Sums what channels spent since a time, in Unix seconds, the start of an hour: the costs of their work, the charges where no cost is
 * known, and the reservations of their unfinished tasks.
 */
export async function sumChannelSpending(
  db: Db,
  { channels, since }: { channels: readonly string[]; since: number },
): Promise<ChannelSpend[]> {
  const named = sql`channel in (${sql.join(channels)})`;
  // An entry can have a time of tomorrow, by the clock of another gateway.
  const days = onDays(db, dayOf(since * 1_000), dayOf(since * 1_000) + 1);
  // As a number, so that PostgreSQL reads only the few later entries. Later figures can include some of them.
  const mark = await db.selectFrom('log_figures_mark').select('rolled_to').executeTakeFirstOrThrow();
  const isUnrolled = sql`id > ${mark.rolled_to} and id <= ${mark.rolled_to + maxUnrolled}
    and id > (select rolled_to from log_figures_mark)`;
  const { rows } = await sql<ChannelSpend>`
    select channel, sum(quota) as quota from (
      select channel, channel_spent as quota from log_figures where hour >= ${since} and ${named}
      union all
      select channel, coalesce(cost, quota) as quota from request_log
      where ${isUnrolled} and created_at >= ${since} and ${days} and ${named}
      union all
      select channel, reserved as quota from tasks join ledger on ledger.request_id = tasks.request_id
      where next_poll_at is not null and ${named}
    ) as spent
    group by channel`.execute(db);
  return rows;
}

/** Counts the unfinished tasks of channels that their providers have or are getting. */
export async function countChannelTasks(db: Db, channels: readonly string[]): Promise<Map<string, number>> {
  if (channels.length === 0) return new Map();
  const rows = await db
    .selectFrom('tasks')
    .select(['channel', ({ fn }) => fn.countAll<number>().as('tasks')])
    .where('next_poll_at', 'is not', null)
    .where('channel', 'in', channels)
    .groupBy('channel')
    .execute();
  return new Map(rows.map(({ channel, tasks }) => [channel, tasks]));
}
