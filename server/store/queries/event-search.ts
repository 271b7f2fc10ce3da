import { type SqlBool, sql } from 'kysely';
import type { Db, EventKind } from '../schema.ts';
import { type BudgetRecord, spentBudgets } from './budgets.ts';
import { leftOf } from './leases.ts';
import { walletBalance } from './wallets.ts';

/** A balance of a key, or of the wallet of a user, that has reached a threshold. */
export interface LowBalance {
  userId: number;
  /** null: the wallet of the user. */
  keyId: number | null;
  keyName: string | null;
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

/** A threshold that the spending of a budget has reached in its period. */
export interface ReachedBudget {
  budget: BudgetRecord;
  threshold: number;
}

/** Conditions for new events, and the ids of events whose condition has ended. */
export interface DetectedEvents {
  low: LowBalance[];
  exhausted: LowBalance[];
  budgets: ReachedBudget[];
  stuck: StuckTask[];
  outages: { channel: string; since: number; reason: string }[];
  ended: string[];
}

interface EventSearch {
  /** Epoch milliseconds. */
  now: number;
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
    low: await find('quota.low', () => lowBalances(db, 'quota.low', search)),
    exhausted: await find('quota.exhausted', () => lowBalances(db, 'quota.exhausted', search)),
    budgets: await find('budget.reached', () => reachedBudgets(db, search)),
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
const balanceOf = (tokens: string) => sql<number>`(${leftOf(tokens)} + cast(coalesce((
  select sum(l.reserved) from ledger as l
  where l.state = 'open' and l.unlimited = 0 and l.token_id = ${sql.ref(`${tokens}.id`)}), 0) as bigint))`;

/** The same for the wallet of a user. */
const balanceOfWallet = sql<number>`(${walletBalance} + cast(coalesce((
  select sum(l.reserved) from ledger as l
  where l.state = 'open' and l.wallet_id = w.user_id), 0) as bigint))`;

/** Balances that were above a threshold of their user or of the operator and now are not. */
async function lowBalances(
  db: Db,
  kind: 'quota.low' | 'quota.exhausted',
  { limit }: EventSearch,
): Promise<LowBalance[]> {
  const threshold = kind === 'quota.low' ? sql<number>`c.quota_threshold` : sql<number>`0`;
  const thresholds = sql`
    select distinct c.user_id, ${threshold} as threshold from callback_endpoints as c where ${receives(kind)}`;
  const isNew = sql`not exists (select 1 from events as v where v.subject = k.subject and v.kind = ${kind}
    and v.threshold = k.threshold and v.ended_at is null)`;
  // Two joins, each of which uses an index.
  const keys = (owner: 'user' | 'operator') => sql`
    select 'key ' || t.id as subject, t.user_id as "userId", t.id as "keyId", t.name as "keyName", t.debt,
      t.used_quota as used, e.threshold, ${balanceOf('t')} as balance
    from (${thresholds}) as e join tokens as t on ${owner === 'user' ? sql`t.user_id = e.user_id` : sql`e.user_id = 0`}
    where t.deleted_at is null and t.status = 1 and t.unlimited_quota = 0 and t.used_quota > 0
      and ${leftOf('t')} <= e.threshold`;
  const wallets = sql`
    select 'user ' || w.user_id as subject, w.user_id as "userId", null as "keyId", null as "keyName", w.debt, w.used,
      e.threshold, ${balanceOfWallet} as balance
    from (${thresholds}) as e join wallets as w on e.user_id in (w.user_id, 0)
    where w.used > 0 and ${walletBalance} <= e.threshold`;
  const { rows } = await sql<LowBalance>`
    select distinct k.subject, k."userId", k."keyId", k."keyName", k.debt, k.threshold, k.balance from (
      ${keys('user')} union all ${keys('operator')} union all ${wallets}
    ) as k where k.balance <= k.threshold and k.balance + k.used > k.threshold and ${isNew}
    order by k.subject limit ${limit}`.execute(db);
  return rows;
}

async function reachedBudgets(db: Db, { now, limit }: EventSearch): Promise<ReachedBudget[]> {
  const reached = (await spentBudgets(db, now)).flatMap((budget) =>
    budget.thresholds
      .filter((threshold) => budget.spent * 100 >= budget.amount * threshold)
      .map((threshold) => ({ budget, threshold })),
  );
  if (reached.length === 0) return [];
  const { rows } = await sql<{ subject: string; threshold: number; period: string }>`
    select subject, threshold, period from events
    where kind = 'budget.reached' and ended_at > ${now}`.execute(db);
  const nameOf = (subject: string, threshold: number, period: string) => `${subject} ${threshold} ${period}`;
  const known = new Set(rows.map(({ subject, threshold, period }) => nameOf(subject, threshold, period)));
  const isNew = ({ budget, threshold }: ReachedBudget) =>
    !known.has(nameOf(`budget ${budget.id}`, threshold, String(budget.periodStart)));
  return reached.filter(isNew).slice(0, limit);
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

/** Outages that gateways in service see. A refused key comes first, because only the operator can correct it. */
const currentOutages = sql`
  select o.channel, min(o.since) as since,
    coalesce(max(case when o.reason = 'key_refused' then o.reason end), min(o.reason)) as reason
  from channel_outages as o join gateways as g on g.id = o.gateway group by o.channel`;

async function outages(db: Db, { limit }: EventSearch): Promise<DetectedEvents['outages']> {
  const { rows } = await sql<DetectedEvents['outages'][number]>`
    select o.channel, o.since, o.reason from (${currentOutages}) as o
    where not exists (select 1 from events as v where v.subject = 'channel ' || o.channel
      and v.kind = 'channel.unhealthy' and v.ended_at is null)
    limit ${limit}`.execute(db);
  return rows;
}

async function endedQuotaEvents(db: Db, { limit }: EventSearch): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select v.id from events as v left join tokens as t on t.id = v.token_id
      left join wallets as w on v.token_id is null and w.user_id = v.user_id
    where v.ended_at is null and v.kind in ('quota.low', 'quota.exhausted') and case
      when v.token_id is null then w.user_id is null or ${balanceOfWallet} > v.threshold
      else t.id is null or t.deleted_at is not null or t.unlimited_quota = 1 or ${balanceOf('t')} > v.threshold end
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
