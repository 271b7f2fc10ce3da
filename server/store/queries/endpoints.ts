import { type CamelCased, camelCased } from '../columns.ts';
import type { CallbackEndpointsTable, Db, DeliveriesTable, EventKind } from '../schema.ts';
import { countRows } from '../statement.ts';

/** A callback endpoint without its secrets. */
export interface CallbackEndpoint {
  id: number;
  /** 0: the operator. */
  userId: number;
  url: string;
  description: string;
  events: readonly EventKind[];
  quotaThreshold: number | null;
  oldSecretUntil: number | null;
  disabled: boolean;
  createdAt: number;
}

const columns = camelCased(
  'id, user_id, url, description, events, quota_threshold, old_secret_until, disabled_at, created_at',
);

/** Finds an endpoint of a user. */
export async function findEndpoint(
  db: Db,
  { id, userId }: { id: number; userId: number },
): Promise<CallbackEndpoint | undefined> {
  const row = await db
    .selectFrom('callback_endpoints')
    .select(columns)
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row && endpointOf(row);
}

/** Lists the endpoints of a user, the oldest first. */
export async function listEndpoints(db: Db, userId: number): Promise<CallbackEndpoint[]> {
  const rows = await db
    .selectFrom('callback_endpoints')
    .select(columns)
    .where('user_id', '=', userId)
    .orderBy('id')
    .execute();
  return rows.map(endpointOf);
}

type EndpointRow = Pick<
  CamelCased<CallbackEndpointsTable>,
  | 'userId'
  | 'url'
  | 'description'
  | 'events'
  | 'quotaThreshold'
  | 'oldSecretUntil'
  | 'disabledAt'
  | 'createdAt'
> & { id: number };

const endpointOf = ({ events, disabledAt, ...row }: EndpointRow): CallbackEndpoint => ({
  ...row,
  events: JSON.parse(events) as EventKind[],
  disabled: disabledAt !== null,
});

/** A delivery to an endpoint, for its owner. */
export type EndpointDelivery = Pick<
  DeliveriesTable,
  | 'changed_at'
  | 'tries'
  | 'next_try_at'
  | 'outcome'
  | 'closed_at'
  | 'last_try_at'
  | 'last_status'
  | 'last_error'
> & { id: number; event_id: string; kind: EventKind };

const deliveriesTo = (db: Db, endpointId: number) =>
  db
    .selectFrom('deliveries as d')
    .innerJoin('events as e', 'e.id', 'd.event_id')
    .where('d.endpoint_id', '=', endpointId);

const deliveryColumns = [
  'd.id',
  'e.id as event_id',
  'e.kind',
  'd.changed_at',
  'd.tries',
  'd.next_try_at',
  'd.outcome',
  'd.closed_at',
  'd.last_try_at',
  'd.last_status',
  'd.last_error',
] as const;

/** Returns a page of the deliveries to an endpoint, the newest first, and the number of deliveries on all pages. */
export async function listEndpointDeliveries(
  db: Db,
  { endpointId, offset, limit }: { endpointId: number; offset: number; limit: number },
): Promise<{ deliveries: EndpointDelivery[]; total: number }> {
  const total = await countRows(deliveriesTo(db, endpointId));
  const deliveries = await deliveriesTo(db, endpointId)
    .select(deliveryColumns)
    .orderBy('d.id', 'desc')
    .offset(offset)
    .limit(limit)
    .execute();
  return { deliveries, total: Math.max(total, deliveries.length === 0 ? 0 : offset + deliveries.length) };
}

/** Finds a delivery to an endpoint. */
export function findEndpointDelivery(
  db: Db,
  { endpointId, id }: { endpointId: number; id: number },
): Promise<EndpointDelivery | undefined> {
  return deliveriesTo(db, endpointId).select(deliveryColumns).where('d.id', '=', id).executeTakeFirst();
}

/** An event and an endpoint that receives it, with the secrets that sign it. */
export interface AddressedEvent {
  id: string;
  kind: EventKind;
  /** JSON object. */
  data: string;
  createdAt: number;
  endpointId: number;
  url: string;
  secret: string;
  oldSecret: string | null;
  oldSecretUntil: number | null;
  disabledAt: number | null;
}

/** Finds the events of deliveries with their endpoints. Those of deleted endpoints are missing. */
export function findAddressedEvents(
  db: Db,
  deliveryIds: readonly number[],
): Promise<(AddressedEvent & { deliveryId: number })[]> {
  if (deliveryIds.length === 0) return Promise.resolve([]);
  return db
    .selectFrom('deliveries as d')
    .innerJoin('events as e', 'e.id', 'd.event_id')
    .innerJoin('callback_endpoints as c', 'c.id', 'd.endpoint_id')
    .select(
      camelCased(
        'e.id, e.kind, e.data, e.created_at, c.url, c.secret, c.old_secret, c.old_secret_until, c.disabled_at',
      ),
    )
    .select(['d.id as deliveryId', 'c.id as endpointId'])
    .where('d.id', 'in', deliveryIds)
    .execute();
}
