import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema.ts';
import type { Command } from './command.ts';

/** What a gateway has let pass on an allowance of requests, and what it wants to. */
export interface Draw {
  tokenId: number;
  /** Requests a minute. */
  max: number;
  /** Requests that have passed; below zero: so many that were given did not. */
  used: number;
  /** Requests that wait for an answer. */
  wanted: number;
}

export interface Drawn {
  tokenId: number;
  /** So many of those wanted may pass. */
  given: number;
  /** What is left after that; below zero where more passed than there was. */
  remaining: number;
}

export interface Draws {
  draws: readonly Draw[];
  /** Epoch milliseconds; null: by the database's clock, the only one that all gateways share. */
  now: number | null;
}

/**
 * Takes requests from allowances that all gateways share, and says how many gateways there are. An allowance fills evenly
 * over the minute up to its figure. PostgreSQL only.
 */
export const drawRequests: Command<Draws, { drawn: Drawn[]; gateways: number }> = async (trx, all) => {
  const first = await draw(trx, all);
  const found = new Set(first.map(({ tokenId }) => tokenId));
  const draws = all.draws.filter(({ tokenId }) => !found.has(tokenId));
  if (draws.length > 0) {
    await open(trx, { ...all, draws });
    first.push(...(await draw(trx, { ...all, draws })));
  }
  const gateways = first[0]?.gateways ?? 1;
  return { drawn: first.map(({ gateways: _, ...drawn }) => drawn), gateways };
};

const clock = (now: number | null) =>
  sql`coalesce(${now}::float8, extract(epoch from clock_timestamp()) * 1000)`;

const asked = (draws: readonly Draw[]) => sql`
  json_to_recordset(${JSON.stringify(draws)}::json)
    as asked("tokenId" bigint, max float8, used float8, wanted float8)`;

/** Rows are locked in their order, so that two gateways never wait for each other. */
async function draw(trx: Kysely<Database>, { draws, now }: Draws) {
  const { rows } = await sql<Drawn & { gateways: number }>`
    with filled as (
      select a.token_id, asked.max, asked.wanted, time.now, a.filled_at,
        least(asked.max, a.remaining + greatest(time.now - a.filled_at, 0) * asked.max / 60000) - asked.used as rest
      from allowances a
      join ${asked(draws)} on asked."tokenId" = a.token_id
      cross join (select ${clock(now)} as now) time
      order by a.token_id
      for update of a
    ), granted as (
      select *, least(wanted, greatest(floor(rest), 0)) as given from filled
    )
    update allowances a set
      remaining = greatest(g.rest - g.given, -g.max),
      -- Whoever waited for the lock has an older time; a clock that was set back is another matter.
      filled_at = case when g.filled_at - g.now between 0 and 1000 then g.filled_at else g.now end
    from granted g
    where a.token_id = g.token_id
    returning a.token_id as "tokenId", g.given, a.remaining, (select count(*) from gateways) as gateways`.execute(
    trx,
  );
  return rows;
}

async function open(trx: Kysely<Database>, { draws, now }: Draws): Promise<void> {
  await sql`
    insert into allowances (token_id, remaining, filled_at)
    select asked."tokenId", asked.max, ${clock(now)} from ${asked(draws)} order by 1
    on conflict (token_id) do nothing`.execute(trx);
}

/** Forgets allowances that nobody has used for so long that they are full, whatever they were. PostgreSQL only. */
export const sweepAllowances: Command<Pick<Draws, 'now'>, void> = async (trx, { now }) => {
  await sql`
    delete from allowances where token_id in (
      select token_id from allowances where filled_at < ${clock(now)} - 180000
      limit 10000 for update skip locked)`.execute(trx);
};
