import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { connect } from '../support/socket-client.ts';

interface Key {
  id: number;
  key: string;
  status: number;
  created_by: number | null;
}

describe.each(engines)('keys created with a key on %s', (engine) => {
  /** Receives requests and sockets. On PostgreSQL, the changes come from another gateway, `there`. */
  let here: TestGateway;
  let there: TestGateway;
  let skew = 0;
  const clock = () => Date.now() + skew;

  beforeAll(async () => {
    there = await startTestGateway({ keysPerKey: 2 }, engine, clock);
    const { databaseUrl, bootstrapKey } = there.gateway.settings;
    here =
      engine === 'sqlite' ? there : await startTestGateway({ databaseUrl, bootstrapKey }, 'sqlite', clock);
  });
  // The gateway that drops the schema closes last.
  afterAll(async () => {
    if (here !== there) await here.close();
    await there.close();
  });

  const send = async (method: string, path: string, key: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const answer = await fetch(there.url + path, init);
    return { status: answer.status, body: (await answer.json()) as { data: Key; message: string } };
  };
  const create = async (creator: string, body: object = {}) => {
    const { status, body: answer } = await send('POST', '/api/token/', creator, {
      name: 'made',
      unlimited_quota: true,
      ...body,
    });
    expect(status, answer.message).toBe(200);
    return answer.data;
  };
  /** Creates a key of the operator, a child and a grandchild. */
  const family = async () => {
    const owned = await send('POST', '/api/admin/users/1/tokens', there.key, {
      name: 'owned',
      unlimited_quota: true,
    });
    const root = owned.body.data;
    const child = await create(root.key);
    return { root, child, grandchild: await create(child.key) };
  };
  const ask = async ({ key }: Key) => {
    const answer = await fetch(`${here.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    await answer.arrayBuffer();
    return answer.status;
  };
  const openSocket = async ({ key }: Key) => {
    const client = await connect(`${here.url}/v1/realtime?model=alpha3-tts-flash-realtime`, { key });
    await client.next(({ type }) => type === 'session.created');
    return client;
  };
  const update = ({ id }: Key, body: object) => send('PATCH', `/api/admin/tokens/${id}`, there.key, body);
  const refused = (key: Key) => vi.waitFor(async () => expect(await ask(key)).toBe(401), { interval: 20 });

  test('are refused and lose their sockets while it is disabled, and work again when it is enabled', async () => {
    const { root, child, grandchild } = await family();
    expect(grandchild.created_by).toBe(child.id);
    const socket = await openSocket(grandchild);
    expect(await ask(grandchild)).toBe(200);
    await update(root, { status: 2 });
    expect((await socket.closed).code).toBe(1008);
    await refused(grandchild);
    const listed = await send('GET', `/api/admin/tokens?user_id=1&status=2`, there.key);
    expect(JSON.stringify(listed.body)).toContain(`"id":${grandchild.id},`);
    await update(root, { status: 1 });
    await vi.waitFor(async () => expect(await ask(grandchild)).toBe(200), { interval: 20 });
  });

  test('are refused and lose their sockets when it expires', async () => {
    const { root, grandchild } = await family();
    await update(root, { expired_time: Math.floor(clock() / 1000) + 3_600 });
    await vi.waitFor(async () => expect(await ask(grandchild)).toBe(200), { interval: 20 });
    const socket = await openSocket(grandchild);
    skew += 3_600_000;
    expect(await ask(grandchild)).toBe(401);
    expect((await socket.closed).code).toBe(1008);
  });

  test('are deleted with it, by its owner or by an operator', async () => {
    for (const remove of [
      ({ id, key }: Key) => send('DELETE', `/api/token/${id}`, key),
      ({ id }: Key) => send('DELETE', `/api/admin/tokens/${id}`, there.key),
    ]) {
      const { root, child, grandchild } = await family();
      const socket = await openSocket(grandchild);
      expect((await remove(child)).status).toBe(200);
      expect((await socket.closed).code).toBe(1008);
      await refused(grandchild);
      expect(await ask(root)).toBe(200);
    }
  });

  test('keep working, with their sockets, when an operator revokes it alone', async () => {
    const { root, child, grandchild } = await family();
    const socket = await openSocket(grandchild);
    const path = `/api/admin/tokens/${child.id}?keep_children=true`;
    expect((await send('DELETE', path, there.key)).status).toBe(200);
    await refused(child);
    expect(await ask(grandchild)).toBe(200);
    await update(root, { status: 2 });
    expect((await socket.closed).code).toBe(1008);
    await refused(grandchild);
  });

  test('are limited by limits.keys_per_key, in chains of at most 8 keys', async () => {
    const { root } = await family();
    await create(root.key);
    const one = { name: 'one too many', remain_quota: 0 };
    const tooMany = await send('POST', '/api/token/', root.key, one);
    expect(tooMany).toMatchObject({
      status: 403,
      body: {
        success: false,
        message: expect.stringMatching(/^At most 2 keys can exist that were created with this key\./),
      },
    });
    let last = (await family()).grandchild;
    for (let level = 4; level <= 8; level += 1) last = await create(last.key);
    expect(await send('POST', '/api/token/', last.key, one)).toMatchObject({
      status: 403,
      body: {
        message: expect.stringMatching(
          /^A chain of keys, each created with the one before, has at most 8 levels\./,
        ),
      },
    });
  });
});
