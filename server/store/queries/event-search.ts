import { type SqlBool, sql } from 'kysely';
import type { Db, EventKind } from '../schema.ts';
import { leftOf } from './leases.ts';

/** A key whose balance has reached a threshold. */
export interface LowKey {
  id: number;
  userId: number;
  name: string;
  balance: number;
  debt: number;
  threshold: number;
}

/** A task whose state its provider has not reported for a long time. `reportedAt`: by the clock of due times. */
interface StuckTask {
  id: string;
  userId: number;
  tokenId: number;
  model: string;
  reportedAt: number;
}

/** Conditions for new events, and the ids of events whose condition has ended. */
export interface DetectedEvents {
  low: LowKey[];
  exhausted: LowKey[];
  stuck: StuckTask[];
  outages: { channel: string; since: number }[];
  ended: string[];
}

interface EventSearch {
  /** Tasks are stuck if the latest report is older, by the clock of due times. */
  stuckBefore: number;
  /** Largest number of conditions of each kind. */
  limit: number;
}

/** Returns the kinds of events that at least one enabled endpoint receives. */
export async function subscribedKinds(db: Db): Promise<Set<EventKind>> {
  const rows = await db
    .selectFrom('callback_endpoints')
    .select('events')
    .distinct()
    .where('disabled_at', 'is', null)
    .execute();
  return new Set(rows.flatMap(({ events }) => JSON.parse(events) as EventKind[]));
}

/** Finds the conditions that endpoints are to be notified of and that no open event covers. */
export async function detectEvents(db: Db, search: EventSearch): Promise<DetectedEvents> {
  const kinds = await subscribedKinds(db);
  const find = <Found>(kind: EventKind, query: () => Promise<Found[]>): Promise<Found[]> =>
    kinds.has(kind) ? query() : Promise.resolve([]);
  return {
    low: await find('quota.low', () => lowKeys(db, 'quota.low', search)),
    exhausted: await find('quota.exhausted', () => lowKeys(db, 'quota.exhausted', search)),
    stuck: await find('task.stuck', () => stuckTasks(db, search)),
    outages: await find('channel.unhealthy', () => outages(db, search)),
    ended: [...(await endedQuotaEvents(db, search)), ...(await endedOutages(db, search))],
  };
}

/** Condition that an endpoint receives a kind of event. Kinds are quoted in its JSON array. */
const receives = (kind: EventKind) => sql<SqlBool>`c.disabled_at is null and c.events like ${`%"${kind}"%`}`;

/**
 * SQL of the balance of a key, in which reserved quota counts until it is charged. A reservation that returns does not
 * change it, so that the balance rises only with grants and refunds.
 */
const balanceOf = (tokens: string) => sql<number>`(${leftOf(tokens)} + coalesce((
  select sum(l.reserved) from ledger as l
  where l.state = 'open' and l.unlimited = 0 and l.token_id = ${sql.ref(`${tokens}.id`)}), 0))`;

/** Keys that were above a threshold of their user or of the operator and now are not. */
async function lowKeys(
  db: Db,
  kind: 'quota.low' | 'quota.exhausted',
  { limit }: EventSearch,
): Promise<LowKey[]> {
  const threshold = kind === 'quota.low' ? sql<number>`c.quota_threshold` : sql<number>`0`;
  const thresholds = sql`
    select distinct c.user_id, ${threshold} as threshold from callback_endpoints as c where ${receives(kind)}`;
  const keys = (join: 'user' | 'operator') => sql`
    select t.id, t.user_id as "userId", t.name, t.debt, t.used_quota, e.threshold, ${balanceOf('t')} as balance
    from (${thresholds}) as e join tokens as t on ${
      join === 'user' ? sql`t.user_id = e.user_id` : sql`e.user_id = 0`
    }
    where t.deleted_at is null and t.status = 1 and t.unlimited_quota = 0 and t.used_quota > 0
      and ${leftOf('t')} <= e.threshold
      and not exists (select 1 from events as v where v.subject = 'key ' || t.id and v.kind = ${kind}
        and v.threshold = e.threshold and v.ended_at is null)`;
  const { rows } = await sql<LowKey>`
    select distinct id, "userId", name, debt, threshold, balance from (
      ${keys('user')} union all ${keys('operator')}
    ) as k where balance <= threshold and balance + used_quota > threshold
    order by id limit ${limit}`.execute(db);
  return rows;
}

async function stuckTasks(db: Db, { stuckBefore, limit }: EventSearch): Promise<StuckTask[]> {
  const { rows } = await sql<StuckTask>`
    select t.id, t.user_id as "userId", t.token_id as "tokenId", t.model,
      coalesce(t.polled_at, t.asked_at) as "reportedAt"
    from tasks as t
    where t.next_poll_at is not null and coalesce(t.polled_at, t.asked_at) < ${stuckBefore}
      and exists (select 1 from callback_endpoints as c
        where c.user_id in (t.user_id, 0) and ${receives('task.stuck')})
      and not exists (select 1 from events as v where v.subject = 'task ' || t.id and v.kind = 'task.stuck')
    limit ${limit}`.execute(db);
  return rows;
}

/** Outages that gateways in service see. */
const currentOutages = sql`
  select o.channel, min(o.since) as since
  from channel_outages as o join gateways as g on g.id = o.gateway group by o.channel`;

async function outages(db: Db, { limit }: EventSearch): Promise<DetectedEvents['outages']> {
  const { rows } = await sql<{ channel: string; since: number }>`
    select o.channel, o.since from (${currentOutages}) as o
    where not exists (select 1 from events as v where v.subject = 'channel ' || o.channel
      and v.kind = 'channel.unhealthy' and v.ended_at is null)
    limit ${limit}`.execute(db);
  return rows;
}

async function endedQuotaEvents(db: Db, { limit }: EventSearch): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select v.id from events as v left join tokens as t on t.id = v.token_id
    where v.ended_at is null and v.kind in ('quota.low', 'quota.exhausted')
      and (t.id is null or t.deleted_at is not null or t.unlimited_quota = 1 or ${balanceOf('t')} > v.threshold)
    limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

async function endedOutages(db: Db, { limit }: EventSearch): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select v.id from events as v
    where v.ended_at is null and v.kind = 'channel.unhealthy'
      and not exists (select 1 from (${currentOutages}) as o where v.subject = 'channel ' || o.channel)
    limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}
