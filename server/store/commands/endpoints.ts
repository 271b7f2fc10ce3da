import { sql } from 'kysely';
import { type CallbackEndpoint, findEndpoint } from '../queries/endpoints.ts';
import type { Db, EventKind } from '../schema.ts';
import { isPostgres } from '../statement.ts';
import { type Creation, differences, type Intent, type NewChange, recordChange } from './changes.ts';

interface NewEndpoint {
  /** 0: the operator. */
  userId: number;
  url: string;
  description: string;
  events: readonly EventKind[];
  quotaThreshold: number | null;
  secret: string;
  now: number;
  /** Largest number of endpoints of the user. */
  max: number;
  /** Recorded if an admin creates an endpoint of the operator. */
  change?: Creation | undefined;
}

/** Creates an endpoint. `too_many`: the user has `max` endpoints. */
export async function createEndpoint(
  trx: Db,
  { userId, url, description, events, quotaThreshold, secret, now, max, change }: NewEndpoint,
): Promise<CallbackEndpoint | 'too_many'> {
  // Concurrent creations wait, so that they do not exceed the limit together.
  if (isPostgres(trx)) await sql`lock table callback_endpoints in share row exclusive mode`.execute(trx);
  const { count } = await trx
    .selectFrom('callback_endpoints')
    .select(sql<number>`count(*)`.as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  if (count >= max) return 'too_many';
  const { id } = await trx
    .insertInto('callback_endpoints')
    .values({
      user_id: userId,
      url,
      description,
      events: JSON.stringify(events),
      quota_threshold: quotaThreshold,
      secret,
      created_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  if (change !== undefined) await recordChange(trx, { ...change, subject: `endpoint ${id}` });
  return existing(await findEndpoint(trx, { id, userId }));
}

interface EndpointFields {
  url?: string | undefined;
  description?: string | undefined;
  events?: readonly EventKind[] | undefined;
  quotaThreshold?: number | null | undefined;
  disabled?: boolean | undefined;
}

/** Changes fields of an endpoint. `no_threshold`: nothing is changed, since it would receive `quota.low` without a threshold. */
export async function updateEndpoint(
  trx: Db,
  {
    id,
    userId,
    set,
    now,
    change,
  }: EndpointName & { set: EndpointFields; now: number; change?: Intent | undefined },
): Promise<CallbackEndpoint | 'not_found' | 'no_threshold'> {
  const before = await lockEndpoint(trx, { id, userId });
  if (before === undefined) return 'not_found';
  const after = {
    url: set.url ?? before.url,
    description: set.description ?? before.description,
    events: set.events ?? before.events,
    quotaThreshold: set.quotaThreshold === undefined ? before.quotaThreshold : set.quotaThreshold,
    disabled: set.disabled ?? before.disabled,
  };
  if (after.events.includes('quota.low') && after.quotaThreshold === null) return 'no_threshold';
  await trx
    .updateTable('callback_endpoints')
    .set({
      url: after.url,
      description: after.description,
      events: JSON.stringify(after.events),
      quota_threshold: after.quotaThreshold,
      disabled_at: after.disabled ? now : null,
    })
    .where('id', '=', id)
    .execute();
  if (after.url !== before.url)
    await trx
      .updateTable('deliveries')
      .set({ host: new URL(after.url).host })
      .where('endpoint_id', '=', id)
      .where('closed_at', 'is', null)
      .execute();
  if (change !== undefined) {
    const details = differences(recorded(before), recorded(after));
    if (details !== undefined) await recordChange(trx, { ...change, subject: `endpoint ${id}`, details });
  }
  return existing(await findEndpoint(trx, { id, userId }));
}

type EndpointName = Pick<CallbackEndpoint, 'id' | 'userId'>;

/** Fields of an endpoint for the audit trail, without the path of its URL, which can contain a secret. */
const recorded = ({
  url,
  description,
  events,
  quotaThreshold,
  disabled,
}: Pick<CallbackEndpoint, 'url' | 'description' | 'events' | 'quotaThreshold' | 'disabled'>) => ({
  host: new URL(url).host,
  description,
  events,
  quota_threshold: quotaThreshold,
  disabled,
});

/** Replaces the secret. The old one signs until `oldUntil`; null: it ends now. */
export async function rotateEndpointSecret(
  trx: Db,
  {
    id,
    userId,
    secret,
    oldUntil,
    change,
  }: EndpointName & { secret: string; oldUntil: number | null; change?: NewChange | undefined },
): Promise<CallbackEndpoint | 'not_found'> {
  if ((await lockEndpoint(trx, { id, userId })) === undefined) return 'not_found';
  await trx
    .updateTable('callback_endpoints')
    .set(({ ref }) => ({
      secret,
      old_secret: oldUntil === null ? null : ref('secret'),
      old_secret_until: oldUntil,
    }))
    .where('id', '=', id)
    .execute();
  if (change !== undefined) await recordChange(trx, change);
  return existing(await findEndpoint(trx, { id, userId }));
}

/** Deletes an endpoint with its deliveries. False when it does not exist. */
export async function deleteEndpoint(
  trx: Db,
  { id, userId, change }: EndpointName & { change?: NewChange | undefined },
): Promise<boolean> {
  if ((await lockEndpoint(trx, { id, userId })) === undefined) return false;
  await trx.deleteFrom('callback_endpoints').where('id', '=', id).execute();
  await trx.deleteFrom('deliveries').where('endpoint_id', '=', id).execute();
  if (change !== undefined) await recordChange(trx, change);
  return true;
}

async function lockEndpoint(trx: Db, name: EndpointName): Promise<CallbackEndpoint | undefined> {
  if (isPostgres(trx))
    await trx.selectFrom('callback_endpoints').select('id').where('id', '=', name.id).forUpdate().execute();
  return findEndpoint(trx, name);
}

function existing(endpoint: CallbackEndpoint | undefined): CallbackEndpoint {
  if (endpoint === undefined) throw new Error('the written endpoint does not exist');
  return endpoint;
}
