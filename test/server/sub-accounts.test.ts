import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { engines } from '../store/engines.ts';
import type { TestGateway } from '../support/gateway.ts';
import { callAdmin, newToken, newUser } from '../support/operator.ts';
import { connect } from '../support/socket-client.ts';
import { dataIn, sendTo, startTwoGateways, type TwoGateways } from '../support/two-gateways.ts';

const socketPath = '/v1/realtime?model=alpha3-tts-flash-realtime';
const speech = { model: 'alpha3-tts-flash', voice: 'Aria', input: 'Nine char' };
const month = new Date().toISOString().slice(0, 7);

describe.each(engines)('sub-accounts on %s', (engine) => {
  let gateways: TwoGateways;
  let target: TestGateway;
  /** Another gateway on PostgreSQL. */
  let other: TestGateway;
  beforeAll(async () => {
    gateways = await startTwoGateways(engine);
    ({ target, other } = gateways);
  });
  afterAll(() => gateways.close());

  const send = (key: string, method: string, path: string, body?: object, at = target) =>
    sendTo(at, key, method, path, body);
  const read = async <Data>(key: string, path: string) => dataIn<Data>(await send(key, 'GET', path));
  const speak = (key: string, at = target) => send(key, 'POST', '/v1/audio/speech', speech, at);
  const grant = (id: number, amount: number, reference: string) =>
    send(target.key, 'POST', `/api/admin/users/${id}/grants`, { amount, reference, reason: 'paid' });

  type Figures = { items: object[]; sum: { requests: number; quota: number } };
  interface Statement {
    opening: { balance: number; debt: number };
    closing: { balance: number; debt: number };
    charges: { quota: number; spent: number; debt: number; requests: number };
    refunds: { quota: number; credited: number };
    grants: { quota: number };
    forfeited: number;
    accounts: object[];
  }

  /** A customer with a wallet and two sub-accounts, each with a key without limits. */
  async function customer() {
    const parent = await newUser(target, { name: 'Hopper Ltd' });
    expect((await grant(parent.id, 1_000, 'first payment')).status).toBe(200);
    const account = async (name: string) => {
      const { id } = await newUser(target, { name, parent_id: parent.id });
      const { key } = await newToken(target, id, { unlimited_quota: true });
      return { id, name, key };
    };
    const { key } = await newToken(target, parent.id, { unlimited_quota: true });
    return { parent, key, paris: await account('Paris'), oslo: await account('Oslo') };
  }
  const expectAudited = async () =>
    expect(await callAdmin(target, 'auditBooks')).toMatchObject({ problems: [] });

  test('draw from the wallet of the customer, who sees the figures and statements of each', async () => {
    const { parent, key, paris, oslo } = await customer();
    for (const one of [key, paris.key, paris.key, oslo.key]) expect((await speak(one)).status).toBe(200);
    expect((await read<{ wallet: object }>(key, '/api/me')).wallet).toMatchObject({ balance: 964, used: 36 });
    await expectAudited();

    expect(await read<{ items: object[] }>(key, '/api/me/accounts')).toMatchObject({
      items: [
        { id: paris.id, name: 'Paris', group: 'default', disabled: false, keys: 1, used_quota: 18 },
        { id: oslo.id, name: 'Oslo', used_quota: 9 },
      ],
    });
    const usage = (query = '', by = key) => read<Figures>(by, `/api/me/usage?${query}`);
    expect((await usage('by=account')).items).toMatchObject([
      { account_id: parent.id, quota: 9 },
      { account_id: paris.id, quota: 18 },
      { account_id: oslo.id, quota: 9 },
    ]);
    expect((await usage()).sum).toMatchObject({ requests: 4, quota: 36 });
    expect((await usage(`account_id=${paris.id}`)).sum.quota).toBe(18);
    expect((await usage(`account_id=${parent.id}`)).sum.quota).toBe(9);
    const log = async (query: string) => (await read<{ items: object[] }>(key, `/api/me/log?${query}`)).items;
    expect([(await log('')).length, (await log(`account_id=${paris.id}`)).length]).toEqual([1, 2]);

    const call = (await log(`account_id=${paris.id}`))[0] as { request_id: string };
    const refunded = await send(target.key, 'POST', `/api/admin/charges/${call.request_id}/refund`, {
      reason: 'noise',
    });
    expect(refunded.status, refunded.text).toBe(200);
    const statement = (query = '', by = key) => read<Statement>(by, `/api/me/statements/${month}${query}`);
    expect(await statement()).toMatchObject({
      charges: { requests: 4, quota: 36, spent: 36, debt: 0 },
      refunds: { quota: 9, credited: 9 },
      grants: { quota: 1_000 },
      forfeited: 0,
      closing: { balance: 973, debt: 0 },
      accounts: [
        { account_id: parent.id, quota: 9, refunded: 0 },
        { account_id: paris.id, account_name: 'Paris', quota: 18, spent: 18, refunded: 9, credited: 9 },
        { account_id: oslo.id, account_name: 'Oslo', quota: 9, refunded: 0 },
      ],
    });
    const own = {
      opening: { balance: 0, debt: 0 },
      grants: { quota: 0 },
      charges: { requests: 2, quota: 18, spent: 0, debt: 0 },
      refunds: { quota: 9, credited: 0 },
      forfeited: 0,
      closing: { balance: 0, debt: 0 },
      accounts: [{ account_id: paris.id, quota: 18, spent: 0 }],
    };
    expect(await statement(`?account_id=${paris.id}`)).toMatchObject(own);
    expect(await statement('', paris.key)).toMatchObject(own);
    expect((await send(key, 'GET', `/api/me/statements/${month}?format=html`)).text).toContain(
      '<h2>Accounts',
    );
    await expectAudited();
  });

  test('see nothing of the customer and of other sub-accounts', async () => {
    const { parent, key, paris, oslo } = await customer();
    for (const one of [key, oslo.key]) expect((await speak(one)).status).toBe(200);
    expect(await read(paris.key, '/api/me')).toMatchObject({
      wallet: null,
      user: { id: paris.id, keys: 1, used_quota: 0 },
    });
    expect((await read<Figures>(paris.key, '/api/me/usage?by=account')).items).toEqual([]);
    expect(await read(paris.key, '/api/me/accounts')).toEqual({ items: [] });
    expect((await read<{ items: object[] }>(paris.key, '/api/me/log')).items).toEqual([]);
    // A key with limits of the customer sees no sub-account either.
    const limited = await newToken(target, parent.id, { remain_quota: 100 });
    for (const [viewer, id, status] of [
      [paris.key, parent.id, 404],
      [paris.key, oslo.id, 404],
      [limited.key, oslo.id, 403],
    ] as const) {
      const path = (name: string) => `/api/me/${name}?account_id=${id}`;
      expect((await read<Figures>(viewer, path('usage'))).sum.requests).toBe(0);
      expect((await read<{ items: object[] }>(viewer, path('log'))).items).toEqual([]);
      expect((await send(viewer, 'GET', path(`statements/${month}`))).status).toBe(status);
    }
    expect((await send(limited.key, 'GET', '/api/me/accounts')).status).toBe(403);
    expect((await read<Figures>(limited.key, '/api/me/usage')).sum.requests).toBe(0);
    // The refusal of a call does not state the balance.
    await grant(parent.id, -975, 'a withdrawal');
    const refused = await speak(oslo.key);
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('the wallet of the user has too little left');
    expect(refused.text).not.toMatch(/has \d+ left/);
    await expectAudited();
  });

  test('are within the budgets of the customer and of their own', async () => {
    const { parent, key, paris, oslo } = await customer();
    const budget = async (userId: number, amount: number) =>
      (
        await callAdmin<{ id: number }>(target, 'createBudget', {
          body: { user_id: userId, amount, period: 'daily', hard: true },
        })
      ).id;
    const own = await budget(paris.id, 9);
    expect((await speak(paris.key)).status).toBe(200);
    expect((await speak(paris.key)).text).toContain('the daily budget of the user');
    expect((await speak(oslo.key)).status).toBe(200);
    const all = await budget(parent.id, 20);
    const late = await newToken(target, oslo.id, { unlimited_quota: true });
    for (const one of [key, late.key]) expect((await speak(one)).status).toBe(200);
    const refused = await speak(oslo.key);
    expect(refused.status).toBe(403);
    // The amount is that of the customer.
    expect(refused.text).toContain('the daily budget of the user has too little left');
    expect((await speak(key)).text).toContain('has 2 of 20 left');
    await callAdmin(target, 'deleteBudget', { path: { id: String(all) } });
    expect((await speak(oslo.key)).status).toBe(200);
    expect((await speak(paris.key)).status).toBe(403);
    await callAdmin(target, 'deleteBudget', { path: { id: String(own) } });
    expect((await speak(paris.key)).status).toBe(200);
    await expectAudited();
  });

  test('stop at once on every gateway when the customer is disabled', async () => {
    const { parent, paris } = await customer();
    const client = await connect(other.url + socketPath, { key: paris.key });
    await client.next(({ type }) => type === 'session.created');
    expect((await speak(paris.key, other)).status).toBe(200);
    const set = (disabled: boolean) =>
      callAdmin(target, 'updateUser', { path: { id: String(parent.id) }, body: { disabled } });
    await set(true);
    expect((await speak(paris.key)).status).toBe(401);
    await vi.waitFor(async () => expect((await speak(paris.key, other)).status).toBe(401));
    expect((await client.closed).code).toBe(1008);
    await set(false);
    await vi.waitFor(async () => expect((await speak(paris.key, other)).status).toBe(200));
    await expectAudited();
  });

  test('have one level, one payer and the group of the customer', async () => {
    const { parent, paris } = await customer();
    const create = (fields: object) =>
      send(target.key, 'POST', '/api/admin/users', { name: 'another', ...fields });
    for (const [parent_id, words] of [
      [paris.id, 'is a sub-account'],
      [999_999, 'no such user'],
      [(await newUser(target)).id, 'no wallet'],
    ] as const) {
      const refused = await create({ parent_id });
      expect([refused.status, refused.text]).toEqual([403, expect.stringContaining(words)]);
      expect(refused.text).toContain('parent_id');
    }
    for (const path of ['wallet', 'grants']) {
      const body = path === 'grants' ? { amount: 5, reference: 'r', reason: 'paid' } : undefined;
      const refused = await send(target.key, 'POST', `/api/admin/users/${paris.id}/${path}`, body);
      expect([refused.status, refused.text]).toEqual([
        400,
        expect.stringContaining(`the wallet of user ${parent.id}`),
      ]);
    }
    expect(dataIn(await create({ parent_id: parent.id, group: 'default' }))).toMatchObject({
      parent_id: parent.id,
      has_wallet: false,
    });
  });
});
