import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { connect } from '../support/socket-client.ts';
import { makeKey } from './ledger.ts';

const speech = '/v1/realtime?model=alpha3-tts-flash-realtime';

const ask = async (url: string, key: string, path: string, init: RequestInit = {}) => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const answer = await fetch(url + path, { ...init, headers });
  return { status: answer.status, body: await answer.text() };
};

describe.each(engines)('a user on %s', (engine) => {
  /** Where the admin is, and where the user is: another gateway of the same database if there can be one. */
  let office: TestGateway;
  let counter: TestGateway;
  beforeAll(async () => {
    office = await startTestGateway({}, engine);
    const { databaseUrl, bootstrapKey } = office.gateway.settings;
    counter = engine === 'sqlite' ? office : await startTestGateway({ databaseUrl, bootstrapKey });
  });
  // The one that drops the schema is the last to close.
  afterAll(async () => {
    if (counter !== office) await counter.close();
    await office.close();
  });

  const newUser = async () => {
    const made = await ask(office.url, office.key, '/api/admin/users', {
      method: 'POST',
      body: '{"name": "someone"}',
    });
    const { id } = (JSON.parse(made.body) as { data: { id: number } }).data;
    const { key } = await makeKey(office, { quota: 1_000, userId: id });
    return { id, key };
  };
  const newAdmin = async () => {
    const post = async (path: string, body: object) => {
      const answer = await ask(office.url, office.key, path, { method: 'POST', body: JSON.stringify(body) });
      return (JSON.parse(answer.body) as { data: { id: number; key: string } }).data;
    };
    const { id } = await post('/api/admin/users', { name: 'someone', role: 'admin' });
    const token = { name: 'admin key', unlimited_quota: true, admin: true };
    return { id, token: await post(`/api/admin/users/${id}/tokens`, token) };
  };
  const changeKey = (id: number, fields: object) =>
    ask(office.url, office.key, `/api/admin/tokens/${id}`, {
      method: 'PATCH',
      body: JSON.stringify(fields),
    });
  const change = (id: number, fields: object) =>
    ask(office.url, office.key, `/api/admin/users/${id}`, {
      method: 'PATCH',
      body: JSON.stringify(fields),
    });
  const becomes = (status: number, key: string, path: string) =>
    vi.waitFor(async () => expect((await ask(counter.url, key, path)).status).toBe(status), {
      timeout: 5_000,
      interval: 50,
    });

  test('who is disabled is refused on every gateway, and its sockets are closed', async () => {
    const { id, key } = await newUser();
    const client = await connect(counter.url + speech, { key });
    await client.next(({ type }) => type === 'session.created');
    expect((await change(id, { disabled: true })).status).toBe(200);
    expect((await client.closed).code).toBe(1008);
    await becomes(401, key, '/v1/models');
    expect((await change(id, { disabled: false })).status).toBe(200);
    await becomes(200, key, '/v1/models');
  });

  test('a key loses admin access on every gateway with its scope and with the role of its user, and keeps its sockets', async () => {
    const { id, token } = await newAdmin();
    const { key } = token;
    const client = await connect(counter.url + speech, { key });
    await client.next(({ type }) => type === 'session.created');
    const users = '/api/admin/users';
    await becomes(200, key, users);
    expect((await change(id, { role: 'user' })).status).toBe(200);
    await becomes(403, key, users);
    expect((await change(id, { role: 'admin' })).status).toBe(200);
    await becomes(200, key, users);
    expect((await changeKey(token.id, { admin: false })).status).toBe(200);
    await becomes(403, key, users);
    expect((await changeKey(token.id, { admin: true })).status).toBe(200);
    await becomes(200, key, users);
    client.send({ event_id: 'first', type: 'session.update', session: { voice: 'Aria' } });
    await client.next(({ type }) => type === 'session.updated');
    client.socket.close();
  });
});
