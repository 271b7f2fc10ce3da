import { randomBytes, randomUUID } from 'node:crypto';
import type { components } from '../../../generated/http.ts';
import type { OperationId } from '../../../generated/operations.ts';
import type { Gateway } from '../../http/gateway.ts';
import type { OperationRequest } from '../../http/handler.ts';
import { readPage } from '../../http/read-page.ts';
import { runReport } from '../../http/run-report.ts';
import type { Caller } from '../../keys/caller.ts';
import { accessDenied, invalid, notFound } from '../../lib/failure.ts';
import { unixTime } from '../../providers/video-task.ts';
import type { Intent } from '../../store/commands/changes.ts';
import {
  type CallbackEndpoint,
  type EndpointDelivery,
  findEndpoint,
  findEndpointDelivery,
  listEndpoints,
} from '../../store/queries/endpoints.ts';
import type { EventKind } from '../../store/schema.ts';
import { checkCallbackUrl } from '../../tasks/callbacks/callback-url.ts';
import { changeBy } from '../admin/admin-change.ts';
import { unixTimeOrNull } from '../admin/task-view.ts';

type Schemas = components['schemas'];
type EndpointRequest = Pick<OperationRequest<OperationId>, 'gateway' | 'caller' | 'signal'>;

/** Largest number of endpoints of one user, and of the operator. */
const maxEndpoints = 20;

/** Whose endpoints an operation works on: `userId` 0 stands for the operator. */
export interface EndpointOwner {
  gateway: Gateway;
  userId: number;
  /** Recorded if an admin makes the change. */
  change?: Intent;
}

/** Returns the caller's user as an owner. @throws Failure 403 for a key with limits */
export function ownerOf({ gateway, caller }: { gateway: Gateway; caller: Caller }): EndpointOwner {
  if (caller.hasLimits === true)
    throw accessDenied('A key with limits must not read or change the callback endpoints of its user.');
  return { gateway, userId: caller.userId };
}

/** Returns the operator as an owner, whose changes are recorded. */
export function operatorOf(request: EndpointRequest, action: OperationId): EndpointOwner {
  return { gateway: request.gateway, userId: 0, change: changeBy(request, action) };
}

interface EndpointInput {
  url: string;
  events: readonly EventKind[];
  quota_threshold?: number | null;
  description?: string;
}

/** Creates an endpoint. @throws Failure 400 or 403 */
export async function createEndpointFor(
  { gateway, userId, change }: EndpointOwner,
  { url, events, quota_threshold: quotaThreshold = null, description = '' }: EndpointInput,
): Promise<Schemas['EndpointSecretReply']['data']> {
  if (events.includes('quota.low') && quotaThreshold === null) throw thresholdMissing();
  const checked = checkCallbackUrl(url, 'url', gateway.settings.callbacks);
  const secret = newSecret();
  const now = gateway.clock();
  const created = await gateway.store.run('createEndpoint', {
    userId,
    url: checked,
    description,
    events: [...new Set(events)],
    quotaThreshold,
    secret,
    now,
    max: maxEndpoints,
    change: change && { ...change, details: { host: new URL(checked).host, events } },
  });
  if (created === 'too_many')
    throw accessDenied(`At most ${maxEndpoints} callback endpoints can exist; delete one first.`);
  return { ...viewEndpoint(created, now), secret };
}

type EndpointChange = Partial<EndpointInput> & { disabled?: boolean };

/** Changes an endpoint. @throws Failure 400 or 404 */
export async function updateEndpointOf(
  { gateway, userId, change }: EndpointOwner,
  id: number,
  { url, events, quota_threshold: quotaThreshold, description, disabled }: EndpointChange,
): Promise<Schemas['Endpoint']> {
  const checked = url === undefined ? undefined : checkCallbackUrl(url, 'url', gateway.settings.callbacks);
  const now = gateway.clock();
  const kinds = events && [...new Set(events)];
  const set = { url: checked, events: kinds, quotaThreshold, description, disabled };
  const updated = await gateway.store.run('updateEndpoint', { id, userId, set, now, change });
  if (updated === 'not_found') throw unknownEndpoint();
  if (updated === 'no_threshold') throw thresholdMissing();
  return viewEndpoint(updated, now);
}

/** Returns the endpoints, the oldest first. */
export async function endpointsOf({
  gateway,
  userId,
}: EndpointOwner): Promise<Schemas['EndpointListReply']['data']> {
  const now = gateway.clock();
  const endpoints = await listEndpoints(gateway.store.read, userId);
  return { items: endpoints.map((endpoint) => viewEndpoint(endpoint, now)), total: endpoints.length };
}

/** Returns an endpoint. @throws Failure 404 */
export async function endpointOf(owner: EndpointOwner, id: number): Promise<Schemas['Endpoint']> {
  return viewEndpoint(await requireEndpoint(owner, id), owner.gateway.clock());
}

/** Finds an endpoint. @throws Failure 404 */
async function requireEndpoint({ gateway, userId }: EndpointOwner, id: number): Promise<CallbackEndpoint> {
  const endpoint = await findEndpoint(gateway.store.read, { id, userId });
  if (endpoint === undefined) throw unknownEndpoint();
  return endpoint;
}

/** Deletes an endpoint. @throws Failure 404 */
export async function deleteEndpointOf(
  { gateway, userId, change }: EndpointOwner,
  id: number,
): Promise<void> {
  const record = change && { ...change, subject: `endpoint ${id}`, details: {} };
  if (!(await gateway.store.run('deleteEndpoint', { id, userId, change: record }))) throw unknownEndpoint();
}

/** Replaces the secret of an endpoint. @throws Failure 404 */
export async function rotateSecretOf(
  { gateway, userId, change }: EndpointOwner,
  id: number,
  overlapSeconds: number,
): Promise<Schemas['EndpointSecretReply']['data']> {
  const now = gateway.clock();
  const secret = newSecret();
  const rotated = await gateway.store.run('rotateEndpointSecret', {
    id,
    userId,
    secret,
    oldUntil: overlapSeconds === 0 ? null : now + overlapSeconds * 1_000,
    change: change && {
      ...change,
      subject: `endpoint ${id}`,
      details: { overlap_seconds: overlapSeconds },
    },
  });
  if (rotated === 'not_found') throw unknownEndpoint();
  return { ...viewEndpoint(rotated, now), secret };
}

/** Sends a test event to an endpoint. @throws Failure 403 or 404 */
export async function pingEndpointOf(
  { gateway, userId }: EndpointOwner,
  endpointId: number,
): Promise<Schemas['EventDelivery']> {
  const { store, clock, timers, callbackDeliveries } = gateway;
  const id = `event_${randomUUID().replaceAll('-', '')}`;
  const pinged = await store.run('pingEndpoint', {
    id,
    endpointId,
    userId,
    now: clock(),
    dueNow: timers.monotonic(),
  });
  if (pinged === 'not_found') throw unknownEndpoint();
  if (pinged === 'disabled') throw endpointDisabled();
  const delivery = await findEndpointDelivery(store.read, { endpointId, id: pinged });
  if (delivery === undefined) throw unknownEndpoint();
  callbackDeliveries.wake();
  return viewEventDelivery(delivery);
}

/** Returns a page of the deliveries to an endpoint. @throws Failure 404 */
export async function deliveriesTo(
  owner: EndpointOwner,
  request: EndpointRequest & { path: { id: number }; query: { p?: number; page_size?: number } },
): Promise<Schemas['EventDeliveryListReply']['data']> {
  const { id: endpointId } = await requireEndpoint(owner, request.path.id);
  const page = { endpointId, ...readPage(request.query) };
  const { deliveries, total } = await runReport(request, 'listEndpointDeliveries', page);
  return { items: deliveries.map(viewEventDelivery), total };
}

/** Sends a delivery to an endpoint again. @throws Failure 403 or 404 */
export async function resendTo(
  owner: EndpointOwner,
  { id: endpointId, delivery_id: id }: { id: number; delivery_id: number },
): Promise<Schemas['EventDelivery']> {
  const { store, timers, callbackDeliveries } = owner.gateway;
  await requireEndpoint(owner, endpointId);
  const change = owner.change && { ...owner.change, subject: `delivery ${id}`, details: {} };
  const outcome = await store.run('resendDelivery', { id, endpointId, now: timers.monotonic(), change });
  if (outcome === 'disabled') throw endpointDisabled();
  const delivery = await findEndpointDelivery(store.read, { endpointId, id });
  if (outcome === 'not_found' || delivery === undefined)
    throw notFound('delivery_id', 'there is no such delivery to this endpoint.');
  callbackDeliveries.wake();
  return viewEventDelivery(delivery);
}

/** Renders an endpoint without its secrets. */
function viewEndpoint(endpoint: CallbackEndpoint, now: number): Schemas['Endpoint'] {
  const { id, url, description, events, quotaThreshold, oldSecretUntil, disabled, createdAt } = endpoint;
  return {
    id,
    url,
    description,
    // No endpoint lists the kind of test events.
    events: events.filter((kind) => kind !== 'ping'),
    quota_threshold: quotaThreshold,
    disabled,
    old_secret_expires_at: oldSecretUntil === null || oldSecretUntil <= now ? null : unixTime(oldSecretUntil),
    created_at: unixTime(createdAt),
  };
}

function viewEventDelivery(delivery: EndpointDelivery): Schemas['EventDelivery'] {
  const { id, event_id, kind, outcome, tries, last_status, last_error } = delivery;
  return {
    id,
    event_id,
    event: kind,
    state: outcome ?? 'open',
    tries,
    last_try_at: unixTimeOrNull(delivery.last_try_at),
    last_status,
    last_error,
    next_try_at: unixTimeOrNull(delivery.next_try_at),
    created_at: unixTime(delivery.changed_at),
    closed_at: unixTimeOrNull(delivery.closed_at),
  };
}

/** 192 random bits, as the Standard Webhooks specification recommends. */
const newSecret = () => `whsec_${randomBytes(24).toString('base64')}`;

const unknownEndpoint = () => notFound('id', 'there is no such callback endpoint.');
const endpointDisabled = () => accessDenied('id: the callback endpoint is disabled; enable it first.');
const thresholdMissing = () => invalid('quota_threshold', 'must be set for the event quota.low.');
