import { sql } from 'kysely';
import type { Db, EventKind } from '../schema.ts';
import { affectsRow, countAffected } from '../statement.ts';

/** An event that a gateway has detected. */
export interface NewEvent {
  /** Unique. */
  id: string;
  kind: EventKind;
  /** The user that it concerns. 0: none. */
  userId: number;
  tokenId: number | null;
  subject: string;
  threshold: number;
  period: string;
  data: Readonly<Record<string, unknown>>;
  /** When its condition ends; null: not known yet. */
  endedAt: number | null;
  /** The condition continues an event that ended at or after this time. Undefined: it never does. */
  resumesFrom?: number | undefined;
}

/** Records events with their deliveries, except events that were recorded before. Returns the number of deliveries. */
export async function recordEvents(
  trx: Db,
  { events, now, dueNow }: { events: readonly NewEvent[]; now: number; dueNow: number },
): Promise<number> {
  let deliveries = 0;
  for (const event of events) {
    if (!(await isNew(trx, event, now))) continue;
    for (const endpoint of await endpointsOf(trx, event))
      deliveries += await countAffected(trx, newDelivery(trx, event, endpoint, { now, dueNow }));
  }
  return deliveries;
}

/** Inserts an event. False when it exists, or when its condition continues an earlier event. */
async function isNew(trx: Db, event: NewEvent, now: number): Promise<boolean> {
  const { id, kind, userId, tokenId, subject, threshold, period, data, endedAt, resumesFrom } = event;
  if (resumesFrom !== undefined) {
    const latest = sql`
      update events set ended_at = null where id in (
        select id from events where subject = ${subject} and kind = ${kind} and threshold = ${threshold}
          and ended_at >= ${resumesFrom} order by ended_at desc limit 1)
        and not exists (select 1 from events as open where open.subject = ${subject} and open.kind = ${kind}
          and open.threshold = ${threshold} and open.ended_at is null)`;
    if (await affectsRow(trx, latest)) return false;
  }
  const insert = trx
    .insertInto('events')
    .values({
      id,
      kind,
      user_id: userId,
      token_id: tokenId,
      subject,
      threshold,
      period,
      data: JSON.stringify(data),
      created_at: now,
      ended_at: endedAt,
    })
    .onConflict((conflict) => conflict.doNothing());
  return affectsRow(trx, insert);
}

interface Receiver {
  id: number;
  user_id: number;
  url: string;
}

/** Returns the enabled endpoints that receive an event: those of its user and those of the operator. */
async function endpointsOf(trx: Db, { kind, userId, threshold }: NewEvent): Promise<Receiver[]> {
  const rows = await trx
    .selectFrom('callback_endpoints')
    .select(['id', 'user_id', 'url', 'events', 'quota_threshold'])
    .where('user_id', 'in', [userId, 0])
    .where('disabled_at', 'is', null)
    .execute();
  return rows.filter(
    ({ events, quota_threshold: quota }) =>
      (JSON.parse(events) as EventKind[]).includes(kind) && (kind !== 'quota.low' || quota === threshold),
  );
}

const newDelivery = (
  trx: Db,
  { id }: { id: string },
  endpoint: Receiver,
  { now, dueNow }: { now: number; dueNow: number },
) =>
  trx
    .insertInto('deliveries')
    .values({
      user_id: endpoint.user_id,
      event_id: id,
      endpoint_id: endpoint.id,
      host: new URL(endpoint.url).host,
      changed_at: now,
      tries: 0,
      attempt: 0,
      next_try_at: dueNow,
    })
    .onConflict((conflict) => conflict.columns(['event_id', 'endpoint_id']).doNothing());

/** Adds a test event for one endpoint. Returns the id of its delivery. */
export async function pingEndpoint(
  trx: Db,
  {
    id,
    endpointId,
    userId,
    now,
    dueNow,
  }: { id: string; endpointId: number; userId: number; now: number; dueNow: number },
): Promise<number | 'not_found' | 'disabled'> {
  const endpoint = await trx
    .selectFrom('callback_endpoints')
    .select(['id', 'user_id', 'url', 'disabled_at'])
    .where('id', '=', endpointId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  if (endpoint === undefined) return 'not_found';
  if (endpoint.disabled_at !== null) return 'disabled';
  await trx
    .insertInto('events')
    .values({
      id,
      kind: 'ping',
      user_id: userId,
      subject: `endpoint ${endpointId}`,
      threshold: 0,
      period: id,
      data: JSON.stringify({ endpoint_id: endpointId }),
      created_at: now,
      ended_at: now,
    })
    .execute();
  const inserted = await newDelivery(trx, { id }, endpoint, { now, dueNow })
    .returning('id')
    .executeTakeFirstOrThrow();
  return inserted.id;
}

/** Ends events whose condition has ended, so that they can occur again. Returns their number. */
export function endEvents(trx: Db, { ids, now }: { ids: readonly string[]; now: number }): Promise<number> {
  const update = trx
    .updateTable('events')
    .set({ ended_at: now })
    .where('id', 'in', ids)
    .where('ended_at', 'is', null);
  return countAffected(trx, update);
}

/** Claims the search for events. False when another gateway has searched since `since`. `until`: no clock is later. */
export function claimEventScan(
  trx: Db,
  { now, since, until }: { now: number; since: number; until: number },
): Promise<boolean> {
  return affectsRow(
    trx,
    sql`insert into event_scans (id, scanned_at) values (1, ${now})
      on conflict (id) do update set scanned_at = excluded.scanned_at
      where event_scans.scanned_at <= ${since} or event_scans.scanned_at > ${until}`,
  );
}

/** Replaces the outages that a gateway sees, and deletes those of lost gateways. */
export async function recordOutages(
  trx: Db,
  {
    gateway,
    channels,
    now,
  }: { gateway: string; channels: readonly { channel: string; reason: string }[]; now: number },
): Promise<void> {
  await sql`delete from channel_outages where not exists (
    select 1 from gateways where gateways.id = channel_outages.gateway)`.execute(trx);
  await trx
    .deleteFrom('channel_outages')
    .where('gateway', '=', gateway)
    .$if(channels.length > 0, (query) =>
      query.where(
        'channel',
        'not in',
        channels.map(({ channel }) => channel),
      ),
    )
    .execute();
  if (channels.length === 0) return;
  await trx
    .insertInto('channel_outages')
    .values(channels.map(({ channel, reason }) => ({ channel, gateway, since: now, reason })))
    .onConflict((conflict) => conflict.columns(['channel', 'gateway']).doNothing())
    .execute();
}

/** Deletes up to `limit` events without deliveries that ended before a time. Returns how many. */
export function pruneEvents(
  trx: Db,
  { endedBefore, limit }: { endedBefore: number; limit: number },
): Promise<number> {
  return countAffected(
    trx,
    sql`delete from events where ended_at < ${endedBefore} and id in (
      select id from events where ended_at < ${endedBefore}
        and not exists (select 1 from deliveries where deliveries.event_id = events.id) limit ${limit})`,
  );
}
