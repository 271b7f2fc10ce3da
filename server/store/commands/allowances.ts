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

/** What a gateway has of the sockets of an allowance, and what it wants. */
export interface SocketClaim {
  tokenId: number;
  /** All that the gateways may have together. */
  max: number;
  /** It has so many open. */
  open: number;
  /** It wants so many places; never less than are open. */
  wanted: number;
}

/**
 * Sets how many places a gateway has of sockets that all gateways share, and says how many gateways there are. It gets
 * what the others have left, and what is open in any case. PostgreSQL only.
 */
export const claimSockets: Command<
  { gateway: string; claims: readonly SocketClaim[] },
  { places: { tokenId: number; places: number }[]; gateways: number }
> = async (trx, { gateway, claims }) => {
  const claimed = sql`
    json_to_recordset(${JSON.stringify(claims)}::json) as claim("tokenId" bigint, max bigint, open bigint, wanted bigint)`;
  // Who comes later sees what the one before has taken. All lock in the same order.
  await sql`
    select pg_advisory_xact_lock(${placesLock}, key)
    from (select distinct ("tokenId" % 2147483647)::int as key from ${claimed} order by 1) keys`.execute(trx);
  const { rows } = await sql<{ tokenId: number; places: number; gateways: number }>`
    insert into socket_places as mine (token_id, gateway, places)
    select "tokenId", ${gateway}, greatest(open, least(wanted, max - coalesce((
        select sum(p.places) from socket_places p join gateways g on g.id = p.gateway
        where p.token_id = "tokenId" and p.gateway <> ${gateway}), 0)))
    from ${claimed}
    on conflict (token_id, gateway) do update set places = excluded.places
    returning token_id as "tokenId", places, (select count(*) from gateways) as gateways`.execute(trx);
  if (rows.some(({ places }) => places === 0))
    await sql`delete from socket_places where gateway = ${gateway} and places = 0`.execute(trx);
  const gateways = rows[0]?.gateways ?? 1;
  return { places: rows.map(({ gateways: _, ...row }) => row), gateways };
};

/** First part of the locks that hold the places of a key together; any fixed number. */
const placesLock = 1_181_204_557;

/**
 * Forgets allowances that nobody has used for so long that they are full, whatever they were, and places of gateways
 * that are gone. PostgreSQL only.
 */
export const sweepAllowances: Command<Pick<Draws, 'now'>, void> = async (trx, { now }) => {
  await sql`
    delete from allowances where token_id in (
      select token_id from allowances where filled_at < ${clock(now)} - 180000
      limit 10000 for update skip locked)`.execute(trx);
  await sql`delete from socket_places where gateway not in (select id from gateways)`.execute(trx);
};
