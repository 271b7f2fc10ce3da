import { sql } from 'kysely';
import type { Db } from '../schema.ts';

/** Requests that a gateway used and wants from the allowance of a key or channel. */
interface Draw {
  /** The key or channel. */
  subject: string;
  /** Requests per minute. */
  max: number;
  /** Requests that passed. Below zero: requests that were granted and not used. */
  used: number;
  /** Requests that wait for a grant. */
  wanted: number;
}

export interface Drawn {
  /** The key or channel. */
  subject: string;
  /** Number of granted requests. */
  given: number;
  /** Tokens left after that. Below zero when more requests passed than there were tokens. */
  remaining: number;
}

interface Draws {
  draws: readonly Draw[];
  /** Epoch milliseconds; null: the database's clock, which all gateways share. */
  now: number | null;
}

/** Takes requests from the shared token buckets, which refill within a minute. Returns the number of gateways, too. PostgreSQL only. */
export async function drawRequests(trx: Db, all: Draws): Promise<{ drawn: Drawn[]; gateways: number }> {
  const rows = await draw(trx, all);
  const existing = new Set(rows.map(({ subject }) => subject));
  const draws = all.draws.filter(({ subject }) => !existing.has(subject));
  if (draws.length > 0) {
    await insertBuckets(trx, { ...all, draws });
    rows.push(...(await draw(trx, { ...all, draws })));
  }
  const gateways = rows[0]?.gateways ?? 1;
  return { drawn: rows.map(({ gateways: _, ...drawn }) => drawn), gateways };
}

const clock = (now: number | null) =>
  sql`coalesce(${now}::float8, extract(epoch from clock_timestamp()) * 1000)`;

const requested = (draws: readonly Draw[]) => sql`
  json_to_recordset(${JSON.stringify(draws)}::json)
    as requested(subject text, max float8, used float8, wanted float8)`;

/** Locks the rows in the order of keys, so that two gateways do not deadlock. */
async function draw(trx: Db, { draws, now }: Draws) {
  const { rows } = await sql<Drawn & { gateways: number }>`
    with filled as (
      select a.subject, requested.max, requested.wanted, time.now, a.filled_at, least(requested.max,
        a.remaining + greatest(time.now - a.filled_at, 0) * requested.max / 60000) - requested.used as rest
      from allowances a
      join ${requested(draws)} on requested.subject = a.subject
      cross join (select ${clock(now)} as now) time
      order by a.subject
      for update of a
    ), granted as (
      select *, least(wanted, greatest(floor(rest), 0)) as given from filled
    )
    update allowances a set
      remaining = greatest(g.rest - g.given, -g.max),
      -- A transaction that waited for the lock has an older time. A larger difference means that the clock was set back.
      filled_at = case when g.filled_at - g.now between 0 and 1000 then g.filled_at else g.now end
    from granted g
    where a.subject = g.subject
    returning a.subject, g.given, a.remaining,
      (select count(*) from gateways) as gateways`.execute(trx);
  return rows;
}

async function insertBuckets(trx: Db, { draws, now }: Draws): Promise<void> {
  await sql`
    insert into allowances (subject, remaining, filled_at)
    select requested.subject, requested.max, ${clock(now)} from ${requested(draws)} order by 1
    on conflict (subject) do nothing`.execute(trx);
}

/** Sockets or calls that a gateway has and wants from a limit. */
interface PlaceClaim {
  /** The key or channel. */
  subject: string;
  /** Limit of all gateways together. */
  max: number;
  /** Open sockets or calls. */
  open: number;
  /** At least `open`. */
  wanted: number;
}

/** Sets the share of a gateway in limits: at least what it has open, and at most what the others left. PostgreSQL only. */
export async function claimPlaces(
  trx: Db,
  { gateway, claims }: { gateway: string; claims: readonly PlaceClaim[] },
): Promise<{ places: { subject: string; places: number }[]; gateways: number }> {
  const claimed = sql`
    json_to_recordset(${JSON.stringify(claims)}::json) as claim(subject text, max bigint, open bigint, wanted bigint)`;
  // Serializes the claims of a subject. All transactions lock in the same order.
  await sql`
    select pg_advisory_xact_lock(${placesLock}, key)
    from (select distinct hashtext(subject) as key from ${claimed} order by 1) keys`.execute(trx);
  const { rows } = await sql<{ subject: string; places: number; gateways: number }>`
    insert into limit_places as mine (subject, gateway, places)
    select claim.subject, ${gateway}, greatest(open, least(wanted, max - coalesce((
        select sum(p.places) from limit_places p join gateways g on g.id = p.gateway
        where p.subject = claim.subject and p.gateway <> ${gateway}), 0)))
    from ${claimed}
    on conflict (subject, gateway) do update set places = excluded.places
    returning subject, places, (select count(*) from gateways) as gateways`.execute(trx);
  if (rows.some(({ places }) => places === 0))
    await sql`delete from limit_places where gateway = ${gateway} and places = 0`.execute(trx);
  const gateways = rows[0]?.gateways ?? 1;
  return { places: rows.map(({ gateways: _, ...row }) => row), gateways };
}

/** First key of the advisory locks on the shares in a limit. */
const placesLock = 1_181_204_557;

/** Deletes buckets that were unused until they were full, and shares of lost gateways. PostgreSQL only. */
export async function sweepAllowances(trx: Db, { now }: Pick<Draws, 'now'>): Promise<void> {
  await sql`
    delete from allowances where subject in (
      select subject from allowances where filled_at < ${clock(now)} - 180000
      limit 10000 for update skip locked)`.execute(trx);
  await sql`delete from limit_places where gateway not in (select id from gateways)`.execute(trx);
}
