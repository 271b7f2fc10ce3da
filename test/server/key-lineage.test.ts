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
  /** Receives requests and sockets. On PostgreSQL, the changes come from another gateway, `otherGateway`. */
  let mainGateway: TestGateway;
  let otherGateway: TestGateway;
  let skew = 0;
  const clock = () => Date.now() + skew;

  beforeAll(async () => {
    otherGateway = await startTestGateway({ keysPerKey: 2 }, engine, clock);
    const { databaseUrl, bootstrapKey } = otherGateway.gateway.settings;
    mainGateway =
      engine === 'sqlite'
        ? otherGateway
        : await startTestGateway({ databaseUrl, bootstrapKey }, 'sqlite', clock);
  });
  // The gateway that drops the schema closes last.
  afterAll(async () => {
    if (mainGateway !== otherGateway) await mainGateway.close();
    await otherGateway.close();
  });

  const send = async (method: string, path: string, key: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(otherGateway.url + path, init);
    return { status: response.status, body: (await response.json()) as { data: Key; message: string } };
  };
  const create = async (creator: string, body: object = {}) => {
    const { status, body: response } = await send('POST', '/api/token/', creator, {
      name: 'made',
      unlimited_quota: true,
      ...body,
    });
    expect(status, response.message).toBe(200);
    return response.data;
  };
  /** Creates a key of the operator, a child and a grandchild. */
  const createFamily = async () => {
    const owned = await send('POST', '/api/admin/users/1/tokens', otherGateway.key, {
      name: 'owned',
      unlimited_quota: true,
    });
    const root = owned.body.data;
    const child = await create(root.key);
    return { root, child, grandchild: await create(child.key) };
  };
  const statusOf = async ({ key }: Key) => {
    const response = await fetch(`${mainGateway.url}/v1/models`, {
      headers: { authorization: `Bearer ${key}` },
    });
    await response.arrayBuffer();
    return response.status;
  };
  const openSocket = async ({ key }: Key) => {
    const client = await connect(`${mainGateway.url}/v1/realtime?model=alpha3-tts-flash-realtime`, { key });
    await client.next(({ type }) => type === 'session.created');
    return client;
  };
  const update = ({ id }: Key, body: object) =>
    send('PATCH', `/api/admin/tokens/${id}`, otherGateway.key, body);
  const refused = (key: Key) =>
    vi.waitFor(async () => expect(await statusOf(key)).toBe(401), { interval: 20 });

  test('are refused and lose their sockets while it is disabled, and work again when it is enabled', async () => {
    const { root, child, grandchild } = await createFamily();
    expect(grandchild.created_by).toBe(child.id);
    const socket = await openSocket(grandchild);
    expect(await statusOf(grandchild)).toBe(200);
    await update(root, { status: 2 });
    expect((await socket.closed).code).toBe(1008);
    await refused(grandchild);
    const listed = await send('GET', `/api/admin/tokens?user_id=1&status=2`, otherGateway.key);
    expect(JSON.stringify(listed.body)).toContain(`"id":${grandchild.id},`);
    await update(root, { status: 1 });
    await vi.waitFor(async () => expect(await statusOf(grandchild)).toBe(200), { interval: 20 });
  });

  test('are refused and lose their sockets when it expires', async () => {
    const { root, grandchild } = await createFamily();
    await update(root, { expired_time: Math.floor(clock() / 1000) + 3_600 });
    await vi.waitFor(async () => expect(await statusOf(grandchild)).toBe(200), { interval: 20 });
    const socket = await openSocket(grandchild);
    skew += 3_600_000;
    expect(await statusOf(grandchild)).toBe(401);
    expect((await socket.closed).code).toBe(1008);
  });

  test('are deleted with it, by its owner or by an operator', async () => {
    for (const remove of [
      ({ id, key }: Key) => send('DELETE', `/api/token/${id}`, key),
      ({ id }: Key) => send('DELETE', `/api/admin/tokens/${id}`, otherGateway.key),
    ]) {
      const { root, child, grandchild } = await createFamily();
      const socket = await openSocket(grandchild);
      expect((await remove(child)).status).toBe(200);
      expect((await socket.closed).code).toBe(1008);
      await refused(grandchild);
      expect(await statusOf(root)).toBe(200);
    }
  });

  test('keep working, with their sockets, when an operator revokes it alone', async () => {
    const { root, child, grandchild } = await createFamily();
    const socket = await openSocket(grandchild);
    const path = `/api/admin/tokens/${child.id}?keep_children=true`;
    expect((await send('DELETE', path, otherGateway.key)).status).toBe(200);
    await refused(child);
    expect(await statusOf(grandchild)).toBe(200);
    await update(root, { status: 2 });
    expect((await socket.closed).code).toBe(1008);
    await refused(grandchild);
  });

  test('are limited by limits.keys_per_key, in chains of at most 8 keys', async () => {
    const { root } = await createFamily();
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
    let last = (await createFamily()).grandchild;
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
