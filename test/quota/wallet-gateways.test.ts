import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findToken, type TokenRecord } from '../../server/store/queries/tokens.ts';
import { walletOf } from '../../server/store/queries/wallets.ts';
import type { Store } from '../../server/store/store.ts';
import { engines, TestStore } from '../store/engines.ts';
import { logEntry, makeAccount, makeToken } from '../store/ledger.ts';
import { QuotaGateway } from './quota-gateways.ts';
import { endTask } from './task-rows.ts';

let number = 0;
const nextId = () => `r${(number += 1)}`;
const change = { userId: 1, tokenId: 1, action: 'openWallet', now: 1 };

const cases = engines.flatMap((engine) => [
  [engine, 'the keys of its user'] as const,
  [engine, 'a sub-account'] as const,
]);

describe.each(cases)('gateways with a wallet on %s, with %s', (engine, payee) => {
  let testStore: TestStore;
  let store: Store;
  let other: Store;
  let here: QuotaGateway;
  let there: QuotaGateway;
  beforeAll(async () => {
    testStore = await TestStore.make(engine);
    store = await testStore.open();
    // SQLite allows one gateway, but the quota layer works with two on one store.
    other = engine === 'postgres' ? await testStore.open() : store;
  });
  afterAll(() => testStore.remove());
  beforeEach(async () => {
    here = await QuotaGateway.start(store, `here ${nextId()}`);
    there = await QuotaGateway.start(other, `there ${nextId()}`);
  });
  afterEach(async () => {
    await Promise.all([here.calls.stop(), there.calls.stop()]);
  });

  const wallet = (userId: number) => walletOf(store.read, userId);
  const grant = (userId: number, amount: number) =>
    store.run('grantToWallet', { userId, amount, reason: 'paid', reference: nextId(), change });

  /** A user with a wallet and `count` keys, of which every second one has a limit of `limit` and can be of a sub-account. */
  async function customer(balance: number, count: number, limit = balance) {
    const { id: userId } = await store.run('createUser', { name: 'customer', group: 'default', now: 1 });
    await grant(userId, balance);
    const account = payee === 'a sub-account' ? await makeAccount(store, userId) : userId;
    const keys: TokenRecord[] = [];
    for (let key = 0; key < count; key += 1)
      keys.push(
        await makeToken(
          store,
          key % 2 === 0 ? { userId, unlimitedQuota: true } : { userId: account, remainQuota: limit },
        ),
      );
    return { userId, keys };
  }

  const reserve = async (by: QuotaGateway, token: TokenRecord, amount: number) => {
    const requestId = nextId();
    const { id, userId, unlimitedQuota, hasWallet } = token;
    const caller = { id, userId, unlimited: unlimitedQuota && !hasWallet };
    const outcome = await by.calls.reserve({
      requestId,
      token: caller,
      model: 'm',
      unit: 'characters',
      amount,
    });
    return { requestId, outcome };
  };
  async function call(by: QuotaGateway, token: TokenRecord, held: number, charged = held): Promise<boolean> {
    const { requestId, outcome } = await reserve(by, token, held);
    if (outcome !== 'reserved') return false;
    await by.calls.settle({ requestId, charged, log: logEntry });
    return true;
  }
  const leases = (userId: number) =>
    store.read.selectFrom('quota_leases').selectAll().where('wallet_id', '=', userId).execute();

  async function expectAudited(): Promise<void> {
    expect((await store.report('auditLedger', null)).problems).toEqual([]);
  }

  test('lease quota for a key without a limit', async () => {
    const { userId, keys } = await customer(10_000, 1);
    const [token] = keys as [TokenRecord];
    for (let round = 0; round < 3; round += 1) expect(await call(here, token, 10)).toBe(true);
    expect(await leases(userId)).toMatchObject([{ token_id: token.id, unlimited: 1, gateway: here.id }]);
    const made = await here.makeTask(token, { requestId: nextId(), amount: 20 });
    expect(made).toMatchObject({ outcome: 'created' });
    expect(await wallet(userId)).toMatchObject({ balance: 9_950, used: 30, reserved: 20 });
    if (made.outcome === 'created') expect(await endTask(store, made.task.id, 5)).toBe(true);
    expect(await wallet(userId)).toMatchObject({ balance: 9_965, used: 35, reserved: 0 });
    await expectAudited();
  });

  test('refuse a call only if the wallet lacks the quota, wherever it is leased', async () => {
    const { userId, keys } = await customer(1_000, 3);
    const [first, second, third] = keys as [TokenRecord, TokenRecord, TokenRecord];
    for (const [by, token] of [
      [here, first],
      [there, second],
      [there, first],
    ] as const)
      for (let round = 0; round < 3; round += 1) expect(await call(by, token, 10)).toBe(true);
    expect((await leases(userId)).length).toBe(3);
    expect(await call(here, third, 911)).toBe(false);
    expect(await call(here, third, 910)).toBe(true);
    expect(await wallet(userId)).toMatchObject({ balance: 0, free: 0, used: 1_000 });
    await expectAudited();
  });

  test('reclaim leases of all keys for a withdrawal', async () => {
    const { userId, keys } = await customer(1_000, 2);
    const [first, second] = keys as [TokenRecord, TokenRecord];
    for (let round = 0; round < 3; round += 1) {
      await call(here, first, 10);
      await call(there, second, 10);
    }
    const withdraw = (amount: number) =>
      here.calls.withWalletReclaim(
        userId,
        amount,
        () => grant(userId, -amount),
        ({ outcome }) => outcome === 'out_of_range',
      );
    expect(await withdraw(941)).toEqual({ outcome: 'out_of_range', left: 940 });
    expect(await withdraw(940)).toMatchObject({ outcome: 'granted', grant: { balance: 0 } });
    await expectAudited();
  });

  test('spend a wallet with five keys at once to exactly zero', { timeout: 120_000 }, async () => {
    const balance = 20_000;
    const { userId, keys } = await customer(balance, 5);
    let spent = 0;
    const spender = async (by: QuotaGateway, token: TokenRecord, seed: number) => {
      for (let round = 0, amount = 97; amount > 0; round += 1) {
        // Some calls cost less than they reserve.
        const charged = (round + seed) % 3 === 0 ? Math.ceil(amount / 2) : amount;
        if (await call(by, token, amount, charged)) spent += charged;
        else amount = Math.floor(amount / 2);
        const { balance: left = -1 } = (await wallet(userId)) ?? {};
        expect(left).toBeGreaterThanOrEqual(0);
      }
    };
    await Promise.all(keys.flatMap((token, index) => [here, there].map((by) => spender(by, token, index))));
    // A call of another key can have returned quota after the last one of a key was refused.
    const [last] = keys as [TokenRecord];
    while (await call(here, last, 1)) spent += 1;
    expect(await wallet(userId)).toMatchObject({ balance: 0, free: 0, used: balance, debt: 0, reserved: 0 });
    expect(spent).toBe(balance);
    await expectAudited();
  });

  test('open a wallet during calls, so that no quota appears or vanishes', { timeout: 120_000 }, async () => {
    const { id: userId } = await store.run('createUser', { name: 'customer', group: 'default', now: 1 });
    const keys = [
      await makeToken(store, { userId, remainQuota: 5_000 }),
      await makeToken(store, { userId, remainQuota: 5_000 }),
      await makeToken(store, { userId, remainQuota: 300 }),
    ];
    let running = true;
    let done = 0;
    const work = async (by: QuotaGateway, token: TokenRecord) => {
      while (running) {
        const made = await by.makeTask(token, { requestId: nextId(), amount: 3 });
        const opened = await reserve(by, token, 7);
        if (opened.outcome === 'reserved') {
          const { requestId } = opened;
          await by.calls.extend({ requestId, tokenId: token.id, from: 7, to: 9 });
          await by.calls.settle({ requestId, charged: 8, log: logEntry });
        }
        if (made.outcome === 'created') await endTask(store, made.task.id, 2);
        done += 1;
      }
    };
    const works = keys.flatMap((token) => [work(here, token), work(there, token)]);
    await expect.poll(() => done).toBeGreaterThan(10);
    await expectAudited();
    const before = done;
    expect((await store.run('openWallet', { userId, change })).outcome).toBe('opened');
    await expectAudited();
    await expect.poll(() => done).toBeGreaterThan(before + 10);
    running = false;
    await Promise.all(works);
    await Promise.all([here.calls.stop(), there.calls.stop()]);
    await expectAudited();
    const ended = await wallet(userId);
    expect(ended).toMatchObject({ reserved: 0, debt: 0 });
    const limits = await Promise.all(
      keys.map(async ({ id }) => (await findToken(store.read, id))?.remainQuota),
    );
    // Each call took the same from the wallet and from the limit of its key.
    expect(limits.reduce<number>((sum, limit = 0) => sum + limit, 0)).toBe(ended?.balance);
  });

  test('return the leases of a deleted key and of a lost gateway to the wallet', async () => {
    const { userId, keys } = await customer(1_000, 2);
    const [first, second] = keys as [TokenRecord, TokenRecord];
    for (let round = 0; round < 3; round += 1) {
      await call(here, first, 10);
      await call(there, second, 10);
    }
    const { requestId } = await reserve(here, first, 10);
    await store.run('deleteToken', { id: first.id, userId, by: null, now: 1 });
    await here.calls.pollRecalls();
    await there.removeAsLost();
    await expectAudited();
    await here.calls.settle({ requestId, charged: 15, log: logEntry });
    await expect.poll(() => leases(userId)).toEqual([]);
    expect(await wallet(userId)).toMatchObject({ balance: 925, free: 925, used: 75 });
    await expectAudited();
  });

  test('describe which balance is too low', async () => {
    const { userId, keys } = await customer(100, 2, 40);
    const [free, limited] = keys as [TokenRecord, TokenRecord];
    const shortage = (token: TokenRecord, hasLimits: boolean) =>
      here.calls.describeShortage({ tokenId: token.id, hasLimits });
    expect(await shortage(free, false)).toBe('the wallet of the user has 100 left');
    expect(await shortage(limited, true)).toBe('the key has 40 of its limit left');
    await grant(userId, -70);
    expect(await shortage(limited, true)).toBe('the wallet of the user has too little left');
    // A sub-account does not see the balance of its customer.
    const seen = payee === 'a sub-account' ? 'too little' : '30';
    expect(await shortage(limited, false)).toBe(`the wallet of the user has ${seen} left`);
    const alone = await makeToken(store, { remainQuota: 5 });
    expect(await shortage(alone, true)).toBe('the key has 5 left');
  });
});
