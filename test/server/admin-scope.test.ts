import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OperationFacts, operations } from '../../generated/operations.ts';
import type { NewToken } from '../../server/store/commands/accounts.ts';
import type { TokenFields } from '../../server/store/commands/tokens.ts';
import { generateKey, hashKey, keyHint } from '../../server/store/keys.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

interface Answer {
  status: number;
  message: string;
  data: { id: number; key: string; admin: boolean; create_keys: boolean };
}

const operatorsOnly = Object.entries(operations as Record<string, OperationFacts>).filter(
  ([, { role }]) => role === 'admin',
);
const year2100 = 4_102_444_800;

/** Keys of the same admin without admin access. */
const withoutAccess: Readonly<Record<string, Partial<NewToken>>> = {
  'limited in quota': { remainQuota: 1_000 },
  'limited to a model': { unlimitedQuota: true, modelLimits: ['alpha3-tts-flash'] },
  'with an expiry': { unlimitedQuota: true, expiredTime: year2100 },
  'with a request limit': { unlimitedQuota: true, requestsPerMinute: 1_000 },
  'with a socket limit': { unlimitedQuota: true, sockets: 10 },
  'unlimited, without the scope': { unlimitedQuota: true },
  // A database tool can write such rows.
  'limited, with the scope': { remainQuota: 1_000, adminScope: true },
  'expiring, with the scope': { unlimitedQuota: true, expiredTime: year2100, adminScope: true },
};

let target: TestGateway;
beforeAll(async () => {
  target = await startTestGateway();
});
afterAll(() => target.close());

const send = async (key: string, method: string, path: string, body?: object): Promise<Answer> => {
  const reply = await fetch(target.url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  const read = reply.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : {};
  return { status: reply.status, message: read.message ?? '', data: read.data };
};
const create = (key: string, body: object) => send(key, 'POST', '/api/token/', { name: 'made', ...body });
const createFor = (key: string, userId: number, body: object) =>
  send(key, 'POST', `/api/admin/users/${userId}/tokens`, { name: 'made', ...body });
const update = (key: string, id: number, body: object) => send(key, 'PATCH', `/api/admin/tokens/${id}`, body);
const listsUsers = async (key: string) => (await send(key, 'GET', '/api/admin/users')).status === 200;

/** Creates a key directly in the store. */
async function keyWith(fields: Partial<NewToken>): Promise<{ id: number; key: string }> {
  const key = generateKey();
  const hashes = { keyHash: hashKey(key), keyHint: keyHint(key) };
  const { store } = target.gateway;
  const { id } = await store.run('createToken', { userId: 1, name: 'k', ...hashes, now: 1, ...fields });
  return { id, key };
}
const newUser = async (role: 'admin' | 'user') =>
  (await target.gateway.store.run('createUser', { name: 'u', group: 'default', role, now: 1 })).id;
/** Changes a key in the store, as another gateway does. This gateway still has the key in its cache. */
const changeElsewhere = (id: number, set: TokenFields) =>
  target.gateway.store.run('updateToken', {
    id,
    set,
    change: { userId: 1, tokenId: 1, action: 'updateToken', now: 1 },
  });
const scopedKeys = () =>
  target.gateway.store.read.selectFrom('tokens').select('id').where('admin', '=', 1).orderBy('id').execute();

describe.each(Object.entries(withoutAccess))('a key of an admin, %s,', (_, fields) => {
  let key: string;
  beforeAll(async () => {
    ({ key } = await keyWith(fields));
  });

  test.each(operatorsOnly)('is refused by %s', async (_id, { method, path }) => {
    const changes = () => target.gateway.store.read.selectFrom('changes').selectAll().execute();
    const before = await changes();
    const place = path.replaceAll(/\{\w+\}/g, '1');
    const reply = await send(key, method.toUpperCase(), place, method === 'get' ? undefined : {});
    expect([reply.status, reply.message]).toEqual([403, expect.stringContaining('scope admin')]);
    expect(await changes()).toEqual(before);
  });

  test('cannot create a key with the scope', async () => {
    const refusal = await create(key, { unlimited_quota: true, admin: true });
    expect([refusal.status, refusal.message]).toEqual([403, expect.stringContaining('admin')]);
  });
});

test('the table has every operation below /api/admin/', () => {
  const below = Object.values(operations as Record<string, OperationFacts>).filter(({ path }) =>
    path.startsWith('/api/admin/'),
  );
  expect(operatorsOnly).toHaveLength(below.length);
  expect(below.length).toBeGreaterThan(20);
});

describe('a new key', () => {
  test('does not inherit the scope', async () => {
    const { data } = await create(target.key, { unlimited_quota: true });
    expect(data.admin).toBe(false);
    expect(await listsUsers(data.key)).toBe(false);
  });

  test('has the scope if an admin key gives it, and can be bound to addresses', async () => {
    const keyFields = { unlimited_quota: true, admin: true, allow_ips: '127.0.0.0/8\n::1' };
    for (const { data } of [await create(target.key, keyFields), await createFor(target.key, 1, keyFields)]) {
      expect(data.admin).toBe(true);
      expect(await listsUsers(data.key)).toBe(true);
    }
  });

  test.each([
    ['quota', { remain_quota: 5 }, 'admin: '],
    ['quota in two fields', { remain_quota: 5, unlimited_quota: false }, 'unlimited_quota: '],
    ['models', { unlimited_quota: true, model_limits: 'voxa-v2' }, 'model_limits: '],
    ['an expiry', { unlimited_quota: true, expired_time: year2100 }, 'expired_time: '],
    ['requests', { unlimited_quota: true, requests_per_minute: 60 }, 'requests_per_minute: '],
    ['sockets', { unlimited_quota: true, sockets: 2 }, 'sockets: '],
  ])('with the scope cannot have a limit of %s', async (_, limit, names) => {
    for (const refusal of [
      await create(target.key, { ...limit, admin: true }),
      await createFor(target.key, 1, { ...limit, admin: true }),
    ])
      expect([refusal.status, refusal.message]).toEqual([400, expect.stringContaining(names)]);
  });

  test('of a user without the admin role cannot have the scope', async () => {
    const refusal = await createFor(target.key, await newUser('user'), {
      unlimited_quota: true,
      admin: true,
    });
    expect([refusal.status, refusal.message]).toEqual([400, expect.stringMatching(/^admin: .*role admin/)]);
  });
});

describe('a change of a key', () => {
  test('gives the scope to an unlimited key of an admin, and revokes it at once', async () => {
    const { id, key } = await keyWith({ remainQuota: 5 });
    const refused = await update(target.key, id, { admin: true });
    expect([refused.status, refused.message]).toEqual([400, expect.stringMatching(/^admin: .*quota/)]);
    const both = await update(target.key, id, { admin: true, unlimited_quota: true });
    expect(both.data.admin).toBe(true);
    expect(await listsUsers(key)).toBe(true);
    expect((await update(target.key, id, { admin: false })).data.admin).toBe(false);
    expect(await listsUsers(key)).toBe(false);
  });

  test.each([
    { unlimited_quota: false },
    { model_limits: 'voxa-v2' },
    { expired_time: year2100 },
    { requests_per_minute: 60 },
    { sockets: 2 },
  ])('refuses the limit %j of a key with the scope', async (limit) => {
    const { id } = await keyWith({ unlimitedQuota: true, adminScope: true });
    const [field = ''] = Object.keys(limit);
    const refused = await update(target.key, id, limit);
    expect([refused.status, refused.message]).toEqual([400, expect.stringContaining(`${field}: `)]);
    expect((await update(target.key, id, { ...limit, admin: false })).data.admin).toBe(false);
  });

  test('cannot give the scope to a key that shares the allowance of a limited key', async () => {
    const maker = await keyWith({ unlimitedQuota: true, requestsPerMinute: 60 });
    const { data } = await create(maker.key, { unlimited_quota: true });
    const refused = await update(target.key, data.id, { admin: true });
    expect([refused.status, refused.message]).toEqual([400, expect.stringMatching(/^admin: .*shares/)]);
  });

  test('cannot give the scope to a key of a user without the admin role', async () => {
    const { id } = await keyWith({ userId: await newUser('user'), unlimitedQuota: true });
    const refused = await update(target.key, id, { admin: true });
    expect([refused.status, refused.message]).toEqual([400, expect.stringMatching(/^admin: .*role admin/)]);
  });
});

test('a key that lost the scope on another gateway cannot pass it on while it is still cached', async () => {
  for (const demoted of [
    { adminScope: false },
    { adminScope: false, unlimitedQuota: false },
    { status: 2 },
  ] as const) {
    const { id, key } = await keyWith({ unlimitedQuota: true, adminScope: true });
    const other = await keyWith({ unlimitedQuota: true });
    expect(await listsUsers(key)).toBe(true);
    await changeElsewhere(id, demoted);
    const before = await scopedKeys();
    const keyFields = { unlimited_quota: true, admin: true };
    await update(key, id, keyFields);
    for (const { status } of [
      await update(key, other.id, keyFields),
      await createFor(key, 1, keyFields),
      await create(key, keyFields),
    ])
      expect([401, 403]).toContain(status);
    expect(await scopedKeys()).toEqual(before);
  }
});

describe('a key with the scope', () => {
  const remove = async (key: string, id: number) => (await send(key, 'DELETE', `/api/token/${id}`)).status;

  test('is not deleted by a key of the same user that has no admin access', async () => {
    const { id, key } = await keyWith({ unlimitedQuota: true, adminScope: true });
    for (const fields of Object.values(withoutAccess)) {
      const other = await keyWith(fields);
      expect([403, 404]).toContain(await remove(other.key, id));
      expect(await remove(other.key, other.id)).toBe(200);
    }
    expect(await listsUsers(key)).toBe(true);
    expect(await remove(target.key, id)).toBe(200);
  });

  test('deletes itself, even if its user has lost the role', async () => {
    const userId = await newUser('admin');
    const { id, key } = await keyWith({ userId, unlimitedQuota: true, adminScope: true });
    const change = { userId: 1, tokenId: 1, action: 'updateUser', now: 1 };
    await target.gateway.store.run('updateUser', { id: userId, set: { role: 'user' }, change });
    expect(await remove(key, id)).toBe(200);
  });

  test('loses the scope with the key that created it, and then cannot pass it on', async () => {
    const maker = await keyWith({ unlimitedQuota: true, adminScope: true });
    const keyFields = { unlimited_quota: true, admin: true };
    const { data } = await create(maker.key, keyFields);
    const other = await keyWith({ unlimitedQuota: true });
    expect(await listsUsers(data.key)).toBe(true);
    await changeElsewhere(maker.id, { status: 2 });
    expect([401, 403]).toContain((await update(data.key, other.id, keyFields)).status);
    expect([401, 403]).toContain((await createFor(data.key, 1, keyFields)).status);
  });
});

describe('the right to create keys', () => {
  test('can be revoked from a key, which also revokes it from the keys that it created', async () => {
    const { id, key } = await keyWith({ remainQuota: 100 });
    const childKey = (await create(key, { remain_quota: 10 })).data;
    expect(childKey.create_keys).toBe(true);
    expect((await update(target.key, id, { create_keys: false })).data.create_keys).toBe(false);
    for (const one of [key, childKey.key]) {
      const refused = await create(one, { remain_quota: 1 });
      expect([refused.status, refused.message]).toEqual([403, expect.stringContaining('create keys')]);
    }
    // The key's own right has no effect once its creator lost the right.
    await update(target.key, childKey.id, { create_keys: true });
    expect((await create(childKey.key, { remain_quota: 1 })).status).toBe(403);
    await update(target.key, id, { create_keys: true });
    expect((await create(childKey.key, { remain_quota: 1 })).status).toBe(200);
  });

  test('can be withheld from a new key', async () => {
    const withheld = { remain_quota: 5, create_keys: false };
    for (const { data } of [await create(target.key, withheld), await createFor(target.key, 1, withheld)]) {
      expect(data.create_keys).toBe(false);
      expect((await create(data.key, { remain_quota: 1 })).status).toBe(403);
    }
  });

  test('is not restored by deleting the key that lost it', async () => {
    const { id, key } = await keyWith({ remainQuota: 100 });
    const childKey = (await create(key, { remain_quota: 10 })).data;
    await update(target.key, id, { create_keys: false });
    await send(target.key, 'DELETE', `/api/token/${id}`);
    expect([401, 403]).toContain((await create(childKey.key, { remain_quota: 1 })).status);
  });
});

test('only an admin key can create keys of another group', async () => {
  const { key } = await keyWith({ unlimitedQuota: true });
  expect((await create(key, { remain_quota: 1, group: 'trial' })).status).toBe(403);
});

describe('a key that an admin key creates or deletes', () => {
  const listChangesOf = async (id: number) => {
    const { data } = await send(target.key, 'GET', `/api/admin/changes?subject=token+${id}`);
    return (data as unknown as { items: { action: string; details: object; token_id: number }[] }).items;
  };

  test('is recorded, without its secret', async () => {
    const keyFields = { remain_quota: 7, model_limits: 'voxa-v2', nonsense: 'x'.repeat(50) };
    const { data } = await create(target.key, keyFields);
    await send(target.key, 'DELETE', `/api/token/${data.id}`);
    const changes = await listChangesOf(data.id);
    const details = { user_id: 1, name: 'made', remain_quota: 7, model_limits: 'voxa-v2' };
    expect(changes.map(({ action, details: of }) => [action, of])).toEqual([
      ['deleteToken', {}],
      ['createToken', details],
    ]);
    expect(changes.every(({ token_id }) => token_id === 1)).toBe(true);
    expect(JSON.stringify(changes)).not.toContain(data.key);
  });

  test('is not recorded when a key without the scope does it', async () => {
    const { key } = await keyWith({ remainQuota: 100 });
    const { data } = await create(key, { remain_quota: 7 });
    await send(key, 'DELETE', `/api/token/${data.id}`);
    expect(await listChangesOf(data.id)).toEqual([]);
  });
});
