import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { engines } from '../store/engines.ts';
import type { TestGateway } from '../support/gateway.ts';
import { connect } from '../support/socket-client.ts';
import { startTwoGateways, type TwoGateways } from '../support/two-gateways.ts';
import { makeKey } from './ledger.ts';

const speech = '/v1/realtime?model=alpha3-tts-flash-realtime';

const send = async (url: string, key: string, path: string, init: RequestInit = {}) => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const reply = await fetch(url + path, { ...init, headers });
  return { status: reply.status, body: await reply.text() };
};

describe.each(engines)('a user on %s', (engine) => {
  /** Gateways of the admin and of the user. On PostgreSQL they are two gateways of one database. */
  let gateways: TwoGateways;
  let adminGateway: TestGateway;
  let userGateway: TestGateway;
  beforeAll(async () => {
    gateways = await startTwoGateways(engine);
    ({ target: adminGateway, other: userGateway } = gateways);
  });
  afterAll(() => gateways.close());

  const newUser = async () => {
    const created = await send(adminGateway.url, adminGateway.key, '/api/admin/users', {
      method: 'POST',
      body: '{"name": "someone"}',
    });
    const { id } = (JSON.parse(created.body) as { data: { id: number } }).data;
    const { key } = await makeKey(adminGateway, { quota: 1_000, userId: id });
    return { id, key };
  };
  const newAdmin = async () => {
    const post = async (path: string, body: object) => {
      const reply = await send(adminGateway.url, adminGateway.key, path, {
        method: 'POST',
        body: JSON.stringify(body),
      });
      return (JSON.parse(reply.body) as { data: { id: number; key: string } }).data;
    };
    const { id } = await post('/api/admin/users', { name: 'someone', role: 'admin' });
    const token = { name: 'admin key', unlimited_quota: true, admin: true };
    return { id, token: await post(`/api/admin/users/${id}/tokens`, token) };
  };
  const updateKey = (id: number, fields: object) =>
    send(adminGateway.url, adminGateway.key, `/api/admin/tokens/${id}`, {
      method: 'PATCH',
      body: JSON.stringify(fields),
    });
  const updateUser = (id: number, fields: object) =>
    send(adminGateway.url, adminGateway.key, `/api/admin/users/${id}`, {
      method: 'PATCH',
      body: JSON.stringify(fields),
    });
  const expectStatusSoon = (status: number, key: string, path: string) =>
    vi.waitFor(async () => expect((await send(userGateway.url, key, path)).status).toBe(status), {
      timeout: 5_000,
      interval: 50,
    });

  test('who is disabled is refused on every gateway, and their sockets are closed', async () => {
    const { id, key } = await newUser();
    const client = await connect(userGateway.url + speech, { key });
    await client.next(({ type }) => type === 'session.created');
    expect((await updateUser(id, { disabled: true })).status).toBe(200);
    expect((await client.closed).code).toBe(1008);
    await expectStatusSoon(401, key, '/v1/models');
    expect((await updateUser(id, { disabled: false })).status).toBe(200);
    await expectStatusSoon(200, key, '/v1/models');
  });

  test('whose role or key scope is revoked loses admin access on every gateway, and keeps the sockets', async () => {
    const { id, token } = await newAdmin();
    const { key } = token;
    const client = await connect(userGateway.url + speech, { key });
    await client.next(({ type }) => type === 'session.created');
    const users = '/api/admin/users';
    await expectStatusSoon(200, key, users);
    expect((await updateUser(id, { role: 'user' })).status).toBe(200);
    await expectStatusSoon(403, key, users);
    expect((await updateUser(id, { role: 'admin' })).status).toBe(200);
    await expectStatusSoon(200, key, users);
    expect((await updateKey(token.id, { admin: false })).status).toBe(200);
    await expectStatusSoon(403, key, users);
    expect((await updateKey(token.id, { admin: true })).status).toBe(200);
    await expectStatusSoon(200, key, users);
    client.send({ event_id: 'first', type: 'session.update', session: { voice: 'Aria' } });
    await client.next(({ type }) => type === 'session.updated');
    client.socket.close();
  });
});
