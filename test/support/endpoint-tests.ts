import { expect, test, vi } from 'vitest';
import type { components } from '../../generated/http.ts';
import type { Variation } from '../conformance/wire/exchange.ts';
import { callAsAdmin, dataOf } from './admin.ts';
import type { Call } from './contract.ts';
import {
  type CreatedEndpoint,
  deleteAfterTest,
  type EndpointOwner,
  endpointFields,
  endpointOperations,
  newEndpoint,
} from './endpoints.ts';
import { expectError } from './expectations.ts';

// The operations on callback endpoints of a user and of the operator behave the same.

type EventDelivery = components['schemas']['EventDelivery'];

const otherOwner = { user: 'operator', operator: 'user' } as const;

export const invalidEndpointId = {
  'an id that is not a number': { path: { id: 'mine' }, field: 'id' },
  'id 0': { path: { id: '0' }, field: 'id', limit: 1 },
};

export const invalidOverlap = {
  'an overlap of more than a week': {
    query: { overlap_seconds: 604_801 },
    field: 'overlap_seconds',
    limit: 604_800,
  },
  'an overlap below 0': { query: { overlap_seconds: -1 }, field: 'overlap_seconds', limit: 0 },
};

/** Invalid in a new endpoint and in a change of one. */
export const invalidEndpointFields = {
  'a URL of 2049 characters': {
    change: { url: `https://app.example/${'a'.repeat(2029)}` },
    field: 'url',
    limit: 2048,
  },
  'a URL of another scheme': { change: { url: 'ftp://app.example/' }, field: 'url' },
  'no event': { change: { events: [] }, field: 'events', limit: 1 },
  'an unknown event': { change: { events: ['quota.high'] }, field: 'events.0' },
  'a threshold of 0': { change: { quota_threshold: 0 }, field: 'quota_threshold', limit: 1 },
  'a description of 201 characters': {
    change: { description: 'd'.repeat(201) },
    field: 'description',
    limit: 200,
  },
  'an unknown field': { change: { secret: 'mine' }, field: 'secret' },
};

/** Tests that the endpoints of the other owner do not exist for the caller. */
export function testUnknownEndpoint(call: Call, owner: EndpointOwner, variation: Variation = {}): void {
  const other = otherOwner[owner];
  test(`404 for an unknown endpoint, and for one of the ${other}`, async () => {
    const foreign = await newEndpoint(other);
    for (const id of [foreign.id, Number.MAX_SAFE_INTEGER])
      expectError(await call({ ...variation, path: { id: String(id) } }), 404, { field: 'id' });
  });
}

/** Tests that only a key without limits manages the endpoints of its user. */
export function testKeyWithLimits(call: Call, variation: Variation = { path: { id: '1' } }): void {
  test('403 for a key with limits', async () => {
    expectError(await call({ ...variation, as: 'noQuota' }), 403, { includes: ['limits'] });
  });
}

export function testCreate(
  call: Call,
  owner: EndpointOwner,
  afterwards: (created: CreatedEndpoint) => Promise<void> = async () => {},
): void {
  test('creates an endpoint and shows its secret', async () => {
    const events = ['quota.low', 'task.stuck'];
    const fields = { ...endpointFields, events, quota_threshold: 5, description: 'mine' };
    const created = dataOf<CreatedEndpoint>(await call({ body: fields }));
    deleteAfterTest(owner, created);
    expect(created).toMatchObject({
      ...fields,
      id: expect.any(Number),
      disabled: false,
      old_secret_expires_at: null,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/),
    });
    await afterwards(created);
  });

  test('400 for quota.low without a threshold', async () => {
    const response = await call({ body: { ...endpointFields, events: ['quota.low'] } });
    expectError(response, 400, { field: 'quota_threshold' });
  });

  test('400 for a user name in the URL', async () => {
    const response = await call({ body: { ...endpointFields, url: 'https://a:b@app.example/' } });
    expectError(response, 400, { field: 'url' });
  });
}

export function testUpdate(
  call: Call,
  owner: EndpointOwner,
  afterwards: (endpointId: number) => Promise<void> = async () => {},
): void {
  test('changes an endpoint, and only the fields of the request', async () => {
    const { secret: _, ...endpoint } = await newEndpoint(owner);
    const path = { id: String(endpoint.id) };
    const events = ['quota.exhausted'];
    const change = { url: 'https://other.example/?token=hidden', description: 'new', events };
    expect(dataOf(await call({ path, body: change }))).toEqual({ ...endpoint, ...change });
    const disabled = await call({ path, body: { disabled: true } });
    expect(dataOf(disabled)).toMatchObject({ ...change, disabled: true });
    expect(dataOf(await call({ path, body: { disabled: false } }))).toMatchObject({ disabled: false });
    await afterwards(endpoint.id);
  });

  test('400 for quota.low without a threshold, and for a user name in the URL', async () => {
    const { id } = await newEndpoint(owner);
    const path = { id: String(id) };
    const without = await call({ path, body: { events: ['quota.low'] } });
    expectError(without, 400, { field: 'quota_threshold' });
    const low = { events: ['quota.low'], quota_threshold: 5 };
    expect(dataOf(await call({ path, body: low }))).toMatchObject(low);
    expectError(await call({ path, body: { quota_threshold: null } }), 400, { field: 'quota_threshold' });
    const named = await call({ path, body: { url: 'https://a:b@app.example/' } });
    expectError(named, 400, { field: 'url' });
  });
}

export function testGet(call: Call, owner: EndpointOwner): void {
  test('returns an endpoint without its secret', async () => {
    const { secret, ...endpoint } = await newEndpoint(owner);
    const response = await call({ path: { id: String(endpoint.id) } });
    expect(dataOf(response)).toEqual(endpoint);
    expect(response.body.toString()).not.toContain(secret);
  });
}

export function testList(call: Call, owner: EndpointOwner): void {
  test(`lists the endpoints of the ${owner} without their secrets`, async () => {
    const { secret, ...endpoint } = await newEndpoint(owner);
    const other = await newEndpoint(otherOwner[owner]);
    const response = await call();
    const { items, total } = dataOf<{ items: CreatedEndpoint[]; total: number }>(response);
    expect(items).toContainEqual(endpoint);
    expect(items).toHaveLength(total);
    expect(items.map(({ id }) => id)).not.toContain(other.id);
    expect(response.body.toString()).not.toContain(secret);
  });
}

export function testDelete(call: Call, owner: EndpointOwner): void {
  test('deletes an endpoint', async () => {
    const { create } = endpointOperations[owner];
    const { id } = await callAsAdmin<CreatedEndpoint>(create, { body: endpointFields });
    expect((await call({ path: { id: String(id) } })).status).toBe(200);
    expectError(await call({ path: { id: String(id) } }), 404, { field: 'id' });
  });
}

/** `afterwards` gets the endpoint with each secret that it had. */
export function testRotate(
  call: Call,
  owner: EndpointOwner,
  afterwards: (versions: CreatedEndpoint[]) => Promise<void> = async () => {},
): void {
  test('replaces the secret with an overlap of a day, or without one', async () => {
    const created = await newEndpoint(owner);
    const path = { id: String(created.id) };
    const rotated = dataOf<CreatedEndpoint>(await call({ path }));
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(rotated.secret).not.toBe(created.secret);
    const expiry = rotated.old_secret_expires_at ?? 0;
    expect(Math.abs(expiry - Date.now() / 1000 - 86_400)).toBeLessThan(60);
    const last = dataOf<CreatedEndpoint>(await call({ path, query: { overlap_seconds: 0 } }));
    expect(last).toMatchObject({ old_secret_expires_at: null });
    await afterwards([created, rotated, last]);
  });
}

export function testTestEvent(call: Call, owner: EndpointOwner): void {
  test('schedules a test event', async () => {
    const { id } = await newEndpoint(owner);
    expect(dataOf(await call({ path: { id: String(id) } }))).toMatchObject({
      event: 'ping',
      event_id: expect.stringMatching(/^event_[0-9a-f]{32}$/),
      tries: 0,
    });
  });

  test('403 for a disabled endpoint', async () => {
    const { id } = await newEndpoint(owner);
    const path = { id: String(id) };
    await callAsAdmin(endpointOperations[owner].update, { path, body: { disabled: true } });
    expectError(await call({ path }), 403, { field: 'id' });
  });
}

export function testListDeliveries(call: Call, owner: EndpointOwner): void {
  test('lists the deliveries to the endpoint, the newest first', async () => {
    const { id } = await newEndpoint(owner);
    const path = { id: String(id) };
    const first = await sendTestEvent(owner, id);
    const second = await sendTestEvent(owner, id);
    const items = [{ id: second.id, event: 'ping' }, { id: first.id }];
    expect(dataOf(await call({ path }))).toMatchObject({ items, total: 2 });
    const last = await call({ path, query: { page_size: 1, p: 2 } });
    expect(dataOf(last)).toMatchObject({ items: [{ id: first.id }], total: 2 });
    expect(dataOf(await call({ path, query: { p: 3 } }))).toEqual({ items: [], total: 2 });
  });
}

export function testResend(call: Call, owner: EndpointOwner): void {
  const { listDeliveries, update } = endpointOperations[owner];

  test('sends an open delivery early', async () => {
    const { id } = await newEndpoint(owner);
    const path = { id: String(id) };
    const sent = await sendTestEvent(owner, id);
    const tries = async () => {
      const { items } = await callAsAdmin<{ items: EventDelivery[] }>(listDeliveries, { path });
      return items[0]?.tries ?? 0;
    };
    await vi.waitFor(async () => expect(await tries()).toBeGreaterThan(0));
    const before = await tries();
    const response = await call({ path: { ...path, delivery_id: String(sent.id) } });
    expect(dataOf(response)).toMatchObject({ id: sent.id, event: 'ping', state: 'open' });
    await vi.waitFor(async () => expect(await tries()).toBeGreaterThan(before), { timeout: 8_000 });
  });

  test('404 for an unknown delivery, and for one of another endpoint', async () => {
    const [one, other] = [await newEndpoint(owner), await newEndpoint(owner)];
    const sent = await sendTestEvent(owner, other.id);
    for (const delivery of [sent.id, Number.MAX_SAFE_INTEGER]) {
      const path = { id: String(one.id), delivery_id: String(delivery) };
      expectError(await call({ path }), 404, { field: 'delivery_id' });
    }
    const path = { id: String(Number.MAX_SAFE_INTEGER), delivery_id: String(sent.id) };
    expectError(await call({ path }), 404, { field: 'id' });
  });

  test('403 for a disabled endpoint', async () => {
    const { id } = await newEndpoint(owner);
    const path = { id: String(id) };
    const sent = await sendTestEvent(owner, id);
    await callAsAdmin(update, { path, body: { disabled: true } });
    expectError(await call({ path: { ...path, delivery_id: String(sent.id) } }), 403, { field: 'id' });
  });
}

const sendTestEvent = (owner: EndpointOwner, id: number): Promise<EventDelivery> =>
  callAsAdmin(endpointOperations[owner].test, { path: { id: String(id) } });
