import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { engines } from '../store/engines.ts';
import type { TestGateway } from '../support/gateway.ts';
import { newMember } from '../support/members.ts';
import { callAdmin, newToken, newUser } from '../support/operator.ts';
import { connect } from '../support/socket-client.ts';
import { dataIn, sendTo, startTwoGateways, type TwoGateways } from '../support/two-gateways.ts';

const socketPath = '/v1/realtime?model=alpha3-tts-flash-realtime';
/** A group of the configuration with all models. */
const group = (ratio: number) => ({ models: ['*'], ratio });
const speech = { model: 'alpha3-tts-flash', voice: 'Aria', input: 'Nine char' };

describe.each(engines)('sub-accounts that their customer manages on %s', (engine) => {
  let gateways: TwoGateways;
  let target: TestGateway;
  /** Another gateway on PostgreSQL. */
  let other: TestGateway;
  beforeAll(async () => {
    const groups = { default: group(1), partner: group(0.5), list: group(2) };
    gateways = await startTwoGateways(engine, { groups, keysPerKey: 3 });
    ({ target, other } = gateways);
  });
  afterAll(() => gateways.close());

  interface Account {
    id: number;
    name: string;
    group: string;
    disabled: boolean;
  }
  interface Key {
    id: number;
    key: string;
    group: string;
    created_by: number | null;
    allow_ips: string;
  }

  const send = (key: string, method: string, path: string, body?: object, at = target) =>
    sendTo(at, key, method, path, body);
  const speak = (key: string, at = target) => send(key, 'POST', '/v1/audio/speech', speech, at);
  const create = (key: string, body: object = { name: 'Paris' }, at = target) =>
    send(key, 'POST', '/api/me/accounts', body, at);
  const update = (key: string, id: number, body: object) =>
    send(key, 'PATCH', `/api/me/accounts/${id}`, body);
  const unlimited = { name: 'web', unlimited_quota: true };
  const createKey = (key: string, id: number, body: object = unlimited, at = target) =>
    send(key, 'POST', `/api/me/accounts/${id}/tokens`, body, at);

  const listKeys = (key: string, id: number, query = '') =>
    send(key, 'GET', `/api/me/accounts/${id}/tokens${query}`);
  const updateKey = (key: string, id: number, tokenId: number, body: object) =>
    send(key, 'PATCH', `/api/me/accounts/${id}/tokens/${tokenId}`, body);
  const deleteKey = (key: string, id: number, tokenId: number) =>
    send(key, 'DELETE', `/api/me/accounts/${id}/tokens/${tokenId}`);

  /** A customer with a wallet and a key without limits. */
  async function customer(fields: { group?: string } = {}) {
    const user = await newUser(target, { name: 'Hopper Ltd', ...fields });
    const grant = { amount: 1_000, reference: 'first payment', reason: 'paid' };
    await callAdmin(target, 'grantToWallet', { path: { id: String(user.id) }, body: grant });
    const { id: keyId, key } = await newToken(target, user.id, { unlimited_quota: true });
    return { user, key, keyId };
  }
  const accountOf = async (key: string) => dataIn<Account>(await create(key));
  const keyOf = async (key: string, id: number, body?: object) => dataIn<Key>(await createKey(key, id, body));
  const list = async (key: string) =>
    dataIn<{ items: Account[] }>(await send(key, 'GET', '/api/me/accounts')).items;
  const changesTo = async (subject: string) =>
    (await callAdmin<{ items: object[] }>(target, 'listChanges', { query: { subject } })).items;
  const expectRefused = async (
    response: Promise<{ status: number; text: string }>,
    status: number,
    words: string,
  ) => expect(await response).toEqual({ status, text: expect.stringContaining(words) });

  test('have keys that draw from the wallet, and are in the changes', async () => {
    const { user, key, keyId } = await customer({ group: 'partner' });
    const created = await create(key);
    expect(dataIn(created)).toEqual({
      id: expect.any(Number),
      name: 'Paris',
      group: 'partner',
      disabled: false,
      keys: 0,
      used_quota: 0,
      created_time: expect.any(Number),
    });
    const { id } = dataIn<Account>(created);
    const paris = await keyOf(key, id);
    expect(paris).toMatchObject({ group: 'partner', created_by: null, admin: false });
    expect((await speak(paris.key)).status).toBe(200);
    const me = dataIn(await send(key, 'GET', '/api/me'));
    expect(me).toMatchObject({ wallet: { used: 5 } });
    expect(await list(key)).toMatchObject([{ id, keys: 1, used_quota: 5 }]);
    const by = { user_id: user.id, token_id: keyId };
    expect(dataIn(await update(key, id, { name: 'Lyon' }))).toMatchObject({ id, name: 'Lyon' });
    expect(await changesTo(`user ${id}`)).toMatchObject([
      { ...by, action: 'updateMyAccount', details: { from: { name: 'Paris' }, to: { name: 'Lyon' } } },
      { ...by, action: 'createMyAccount', details: { name: 'Paris', parent_id: user.id } },
    ]);
    const [change] = await changesTo(`token ${paris.id}`);
    expect(change).toMatchObject({ ...by, action: 'createMyAccountToken', details: { user_id: id } });
    expect(JSON.stringify(change)).not.toContain(paris.key);
    expect(await callAdmin(target, 'auditBooks')).toMatchObject({ problems: [] });
  });

  test('stop at once on every gateway when the customer disables them', async () => {
    const { key } = await customer();
    const { id } = await accountOf(key);
    const paris = await keyOf(key, id);
    const client = await connect(other.url + socketPath, { key: paris.key });
    await client.next(({ type }) => type === 'session.created');
    expect((await speak(paris.key, other)).status).toBe(200);
    expect(dataIn(await update(key, id, { disabled: true }))).toMatchObject({ disabled: true });
    expect((await speak(paris.key)).status).toBe(401);
    await vi.waitFor(async () => expect((await speak(paris.key, other)).status).toBe(401));
    expect((await client.closed).code).toBe(1008);
    expect((await speak(key)).status).toBe(200);
    expect(dataIn(await update(key, id, { disabled: false }))).toMatchObject({ disabled: false });
    await vi.waitFor(async () => expect((await speak(paris.key, other)).status).toBe(200));
  });

  test('stay disabled if the operator disabled them', async () => {
    const { key } = await customer();
    const { id } = await accountOf(key);
    const byOperator = (disabled: boolean) =>
      callAdmin(target, 'updateUser', { path: { id: String(id) }, body: { disabled } });
    await byOperator(true);
    // A second request to disable it does not give the customer the right to enable it.
    expect((await update(key, id, { disabled: true })).status).toBe(200);
    await expectRefused(update(key, id, { disabled: false }), 403, 'only the operator enables it');
    expect(dataIn(await update(key, id, { name: 'Lyon' }))).toMatchObject({ name: 'Lyon', disabled: true });
    await expectRefused(update(key, id, { disabled: false }), 403, 'only the operator enables it');
    await byOperator(false);
    expect((await update(key, id, { disabled: true })).status).toBe(200);
    // The operator takes over.
    await byOperator(true);
    await expectRefused(update(key, id, { disabled: false }), 403, 'only the operator enables it');
    await byOperator(false);
    expect((await list(key))[0]).toMatchObject({ disabled: false });
    expect((await update(key, id, { disabled: true })).status).toBe(200);
    await callAdmin(target, 'updateUser', { path: { id: String(id) }, body: { name: 'Nantes' } });
    expect(dataIn(await update(key, id, { disabled: false }))).toMatchObject({ disabled: false });
  });

  test('are managed only by owners without limits', async () => {
    const { user, key } = await customer();
    const { id } = await accountOf(key);
    const memberKey = async (role: 'owner' | 'developer' | 'billing', fields: object = {}) => {
      const member = await newMember(target, user.id, { role });
      const token = { unlimited_quota: true, member_id: member.id, ...fields };
      return (await newToken(target, user.id, token)).key;
    };
    const limits = [{ unlimited_quota: false }, { model_limits: 'alpha3-tts-flash' }, { sockets: 5 }];
    const refused = [
      await memberKey('developer'),
      await memberKey('billing'),
      ...(await Promise.all(limits.map((fields) => memberKey('owner', fields)))),
    ];
    for (const one of refused)
      for (const response of [
        await create(one),
        await update(one, id, { disabled: true }),
        await createKey(one, id),
      ])
        expect(response.status, response.text).toBe(403);
    const partner = await memberKey('owner');
    const second = await accountOf(partner);
    expect((await createKey(partner, second.id)).status).toBe(200);
    expect(await list(key)).toMatchObject([
      { id, disabled: false, keys: 0 },
      { id: second.id, keys: 1 },
    ]);
  });

  test('have one level, and belong to one customer', async () => {
    const { key } = await customer();
    const paris = await accountOf(key);
    const oslo = await accountOf(key);
    const parisKey = (await keyOf(key, paris.id)).key;
    await expectRefused(create(parisKey), 403, 'is a sub-account');
    const stranger = await customer();
    const foreign = await accountOf(stranger.key);
    const none = 'there is no such sub-account';
    for (const [by, id] of [
      [key, foreign.id],
      [key, stranger.user.id],
      [key, 999_999],
      [parisKey, paris.id],
      [parisKey, oslo.id],
      [stranger.key, paris.id],
    ] as const) {
      await expectRefused(update(by, id, { disabled: true }), 404, none);
      await expectRefused(createKey(by, id), 404, none);
    }
    const poor = await newToken(target, (await newUser(target)).id, { unlimited_quota: true });
    await expectRefused(create(poor.key), 403, 'require a wallet');
    for (const body of [{ group: 'partner' }, { parent_id: paris.id }, { role: 'admin' }]) {
      expect((await create(key, { name: 'Rome', ...body })).status).toBe(400);
      expect((await update(key, paris.id, body)).status).toBe(400);
    }
    expect(await list(key)).toMatchObject([{ id: paris.id }, { id: oslo.id }]);
  });

  test('get keys with no more rights than the key that creates them', async () => {
    const { user, key } = await customer();
    const { id } = await accountOf(key);
    for (const fields of [{ admin: true }, { group: 'partner' }, { member_id: 1 }, { user_id: 1 }])
      expect((await createKey(key, id, { ...unlimited, ...fields })).status).toBe(400);
    const ownKey = async (fields: { allow_ips?: string; group?: string; create_keys?: boolean }) =>
      (await newToken(target, user.id, { unlimited_quota: true, ...fields })).key;
    await expectRefused(createKey(await ownKey({ create_keys: false }), id), 403, 'may not create keys');
    const bound = await ownKey({ allow_ips: '127.0.0.0/8', group: 'list' });
    await expectRefused(createKey(bound, id, { ...unlimited, allow_ips: '0.0.0.0/0' }), 403, 'allow_ips');
    expect(await keyOf(bound, id)).toMatchObject({ allow_ips: '127.0.0.0/8', group: 'list' });
    const trial = await keyOf(key, id, { name: 'trial', remain_quota: 10 });
    expect([(await speak(trial.key)).status, (await speak(trial.key)).status]).toEqual([200, 403]);
  });

  test('keep their keys when the creating key is deleted', async () => {
    const { key, keyId } = await customer();
    const { id } = await accountOf(key);
    const paris = await keyOf(key, id);
    expect((await send(key, 'DELETE', `/api/token/${keyId}`)).status).toBe(200);
    expect((await speak(paris.key)).status).toBe(200);
    expect((await create(key)).status).toBe(401);
  });

  test('have keys that the customer lists, changes and deletes', async () => {
    const { user, key, keyId } = await customer();
    const { id } = await accountOf(key);
    const web = await keyOf(key, id);
    const child = dataIn<Key>(await send(web.key, 'POST', '/api/token/', { ...unlimited, name: 'child' }));
    const trial = await keyOf(key, id, { name: 'trial', remain_quota: 10 });
    expect(dataIn(await listKeys(key, id))).toMatchObject({
      items: [{ id: trial.id }, { id: child.id, created_by: web.id }, { id: web.id, created_by: null }],
      total: 3,
    });
    const second = await listKeys(key, id, '?p=2&page_size=2');
    expect(dataIn(second)).toMatchObject({ items: [{ id: web.id }], total: 3 });
    expect(second.text).not.toContain(web.key);

    const client = await connect(other.url + socketPath, { key: web.key });
    await client.next(({ type }) => type === 'session.created');
    expect(dataIn(await updateKey(key, id, web.id, { name: 'old', status: 2 }))).toMatchObject({ status: 2 });
    expect((await speak(web.key)).status).toBe(401);
    await vi.waitFor(async () => expect((await speak(child.key, other)).status).toBe(401));
    expect((await client.closed).code).toBe(1008);
    expect(dataIn(await updateKey(key, id, web.id, { status: 1 }))).toMatchObject({ status: 1 });
    await vi.waitFor(async () => expect((await speak(child.key, other)).status).toBe(200));
    expect((await speak(trial.key)).status).toBe(200);
    expect((await speak(trial.key)).status).toBe(403);
    expect((await updateKey(key, id, trial.id, { unlimited_quota: true })).status).toBe(200);
    expect((await speak(trial.key)).status).toBe(200);

    expect((await deleteKey(key, id, web.id)).status).toBe(200);
    for (const gone of [web.key, child.key]) expect((await speak(gone)).status).toBe(401);
    expect(dataIn(await listKeys(key, id))).toMatchObject({ items: [{ id: trial.id }], total: 1 });
    const by = { user_id: user.id, token_id: keyId };
    const [deletion, ...changes] = await changesTo(`token ${web.id}`);
    expect(deletion).toMatchObject({
      ...by,
      action: 'deleteMyAccountToken',
      details: { user_id: id, deleted: [child.id] },
    });
    expect(changes.slice(0, 2)).toMatchObject([
      { ...by, action: 'updateMyAccountToken', details: { from: { status: 2 }, to: { status: 1 } } },
      { ...by, action: 'updateMyAccountToken', details: { to: { name: 'old', status: 2 } } },
    ]);
    expect(await callAdmin(target, 'auditBooks')).toMatchObject({ problems: [] });
  });

  test('have keys that nobody else manages', async () => {
    const { user, key, keyId } = await customer();
    const paris = await accountOf(key);
    const oslo = await accountOf(key);
    const web = await keyOf(key, paris.id);
    const stranger = await customer();
    const developer = await newMember(target, user.id, { role: 'developer' });
    const billing = await newMember(target, user.id, { role: 'billing' });
    const refused = [
      await newToken(target, user.id, { unlimited_quota: true, member_id: developer.id }),
      await newToken(target, user.id, { unlimited_quota: true, member_id: billing.id }),
      await newToken(target, user.id, { unlimited_quota: true, sockets: 5 }),
    ];
    const attempts = (by: string, id: number, tokenId: number) => [
      updateKey(by, id, tokenId, { status: 2 }),
      deleteKey(by, id, tokenId),
    ];
    for (const one of refused)
      for (const attempt of [listKeys(one.key, paris.id), ...attempts(one.key, paris.id, web.id)])
        expect((await attempt).status).toBe(403);
    for (const [by, id] of [
      [stranger.key, paris.id],
      [web.key, paris.id],
      [key, user.id],
    ] as const)
      for (const attempt of [listKeys(by, id), ...attempts(by, id, web.id)])
        await expectRefused(attempt, 404, 'there is no such sub-account');
    for (const [id, tokenId] of [
      [oslo.id, web.id],
      [paris.id, keyId],
      [paris.id, 999_999],
    ] as const)
      for (const attempt of attempts(key, id, tokenId))
        await expectRefused(attempt, 404, 'there is no such key');
    expect((await speak(web.key)).status).toBe(200);
  });

  test('have keys that get no more rights than the key that changes them', async () => {
    const { user, key } = await customer();
    const { id } = await accountOf(key);
    const web = await keyOf(key, id);
    for (const body of [{}, { admin: true }, { group: 'partner' }, { remain_quota: 5 }, { status: 3 }])
      expect((await updateKey(key, id, web.id, body)).status).toBe(400);
    await expectRefused(updateKey(key, id, web.id, { expired_time: 1 }), 400, 'expired_time');
    const ownKey = async (fields: { allow_ips?: string; group?: string; create_keys?: boolean }) =>
      (await newToken(target, user.id, { unlimited_quota: true, ...fields })).key;

    const local = await ownKey({ allow_ips: '127.0.0.0/8' });
    expect((await updateKey(local, id, web.id, { name: 'web 2', status: 2 })).status).toBe(200);
    // The disabled key may be used from all addresses.
    for (const body of [{ status: 1 }, { sockets: 5 }, { status: 1, allow_ips: '0.0.0.0/0' }])
      await expectRefused(updateKey(local, id, web.id, body), 403, 'allow_ips');
    const narrowed = await updateKey(local, id, web.id, { status: 1, allow_ips: '' });
    expect(dataIn(narrowed)).toMatchObject({ status: 1, allow_ips: '127.0.0.0/8' });

    const single = await ownKey({ create_keys: false });
    await expectRefused(updateKey(single, id, web.id, { sockets: 5 }), 403, 'create_keys');
    const limited = await updateKey(single, id, web.id, { sockets: 5, create_keys: false });
    expect(dataIn(limited)).toMatchObject({ sockets: 5, create_keys: false });
    await expectRefused(updateKey(single, id, web.id, { create_keys: true }), 403, 'create_keys');

    const listed = await ownKey({ group: 'list' });
    await expectRefused(updateKey(listed, id, web.id, { sockets: 9 }), 403, 'group');
    expect((await updateKey(listed, id, web.id, { status: 2 })).status).toBe(200);
  });

  test('have admin keys that only an admin key changes', async () => {
    const { key } = await customer();
    const { id } = await accountOf(key);
    await callAdmin(target, 'updateUser', { path: { id: String(id) }, body: { role: 'admin' } });
    const { id: tokenId } = await newToken(target, id, { unlimited_quota: true, admin: true });
    await expectRefused(updateKey(key, id, tokenId, { status: 2 }), 403, 'scope admin');
    await expectRefused(deleteKey(key, id, tokenId), 403, 'scope admin');
  });

  test('stop with their customer, who can then create none', async () => {
    const { user, key } = await customer();
    const { id } = await accountOf(key);
    const paris = await keyOf(key, id);
    await callAdmin(target, 'updateUser', { path: { id: String(user.id) }, body: { disabled: true } });
    for (const response of [await create(key), await createKey(key, id), await speak(paris.key)])
      expect(response.status).toBe(401);
    await vi.waitFor(async () => expect((await create(key, { name: 'Rome' }, other)).status).toBe(401));
  });

  test('have at most three keys, also with concurrent requests on both gateways', async () => {
    const { key } = await customer();
    const { id } = await accountOf(key);
    const requests = Array.from({ length: 8 }, (_, index) =>
      createKey(key, id, unlimited, index % 2 === 0 ? target : other),
    );
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(3);
    expect(statuses.filter((status) => status === 403)).toHaveLength(5);
    await expectRefused(createKey(key, id), 403, 'At most 3 keys');
    expect((await list(key))[0]).toMatchObject({ keys: 3 });
  });

  test('are at most 1,000, also with concurrent requests on both gateways', async () => {
    const { user, key } = await customer();
    const order = { name: 'Paris', parentId: user.id, now: Date.now() };
    for (let count = 0; count < 998; count++) await target.gateway.store.run('createSubAccount', order);
    const requests = Array.from({ length: 6 }, (_, index) =>
      create(key, { name: 'Oslo' }, index % 2 === 0 ? target : other),
    );
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(2);
    expect(statuses.filter((status) => status === 403)).toHaveLength(4);
    await expectRefused(create(key), 403, 'at most 1000 sub-accounts');
    expect(await list(key)).toHaveLength(1_000);
  });

  test('have statements that the customer lists', async () => {
    const { key } = await customer();
    const { id } = await accountOf(key);
    const stranger = await accountOf((await customer()).key);
    const months = (account: number) => send(key, 'GET', `/api/me/statements?account_id=${account}`);
    const month = new Date().toISOString().slice(0, 7);
    expect(dataIn(await months(id))).toMatchObject({ items: [{ month, final: false }] });
    await expectRefused(months(stranger.id), 404, 'no such user or sub-account');
  });
});
