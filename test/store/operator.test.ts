import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Ledger } from '../../server/quota/ledger.ts';
import type { Intent } from '../../server/store/commands/changes.ts';
import { auditLedger } from '../../server/store/queries/audit.ts';
import { listChanges } from '../../server/store/queries/changes.ts';
import { countGroups } from '../../server/store/queries/group-counts.ts';
import { findToken, searchTokens, type TokenRecord } from '../../server/store/queries/tokens.ts';
import { findUser, searchUsers } from '../../server/store/queries/users.ts';
import type { Store } from '../../server/store/store.ts';
import { engines, TestStore } from './engines.ts';
import { balanceOf, logEntry, makeToken } from './ledger.ts';

const now = 1_700_000_000_000;

describe.each(engines)('the operator on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  let ledger: Ledger;
  let admin: { userId: number; tokenId: number };
  beforeAll(async () => {
    testStore = await TestStore.make(engine);
    store = await testStore.open();
    ledger = new Ledger(store, 'here', () => now);
    await store.run('recordHeartbeat', { id: 'here', heartbeat: 0 });
    const { id: userId } = await store.run('createUser', {
      name: 'op',
      group: 'default',
      role: 'admin',
      now,
    });
    admin = { userId, tokenId: (await makeToken(store, { userId, unlimitedQuota: true })).id };
  });
  afterAll(() => testStore.remove());

  const by = (action: string): Intent => ({ ...admin, action, now });
  const left = async (token: { id: number }) => (await balanceOf(store, token)).remain_quota;
  const give = (
    { id: tokenId }: { id: number },
    amount: number,
    { name = null as string | null, reason = 'r' } = {},
  ) => store.run('grantQuota', { tokenId, amount, reason, idempotencyKey: name, change: by('grantQuota') });
  const revoke = ({ id }: { id: number }) =>
    store.run('revokeToken', { id, change: { ...by('revokeToken'), details: {} } });
  const update = ({ id }: { id: number }, set: object) =>
    store.run('updateUser', { id, set, change: by('updateUser') });
  const spend = async (token: TokenRecord, amount: number) => {
    const requestId = crypto.randomUUID();
    const outcome = await ledger.reserve({ requestId, token, model: 'm', unit: 'characters', amount });
    if (outcome === 'reserved') await ledger.settle({ requestId, charged: amount, log: logEntry });
    return outcome;
  };
  const listChangesOf = async (subject: string) =>
    (await listChanges(store.read, { subject, limit: 1_000, offset: 0 })).changes;

  test('concurrent grants, revocations and charges lose and create no unit', async () => {
    const keys = await Promise.all(Array.from({ length: 4 }, () => makeToken(store, { remainQuota: 100 })));
    let given = 400;
    let spent = 0;
    await Promise.all(
      keys.flatMap((token, index) => [
        ...Array.from({ length: 6 }, async (_, spender) => {
          for (let turn = 0; turn < 6; turn += 1)
            if ((await spend(token, 5 + ((spender + turn) % 4))) === 'reserved')
              spent += 5 + ((spender + turn) % 4);
        }),
        ...Array.from({ length: 6 }, async (_, giver) => {
          for (const amount of [17 + giver, -23, 9, -50]) {
            const result = await give(token, amount);
            if (result.outcome === 'granted') given += amount;
            else expect(result).toMatchObject({ outcome: expect.stringMatching(/not_found|out_of_range/) });
          }
        }),
        ...(index === 0 ? [revoke(token), revoke(token)] : []),
      ]),
    );
    const balances = await Promise.all(keys.map(left));
    for (const balance of balances) expect(balance).toBeGreaterThanOrEqual(0);
    expect(balances.reduce((sum, one) => sum + one) + spent).toBe(given);
    expect((await auditLedger(store.read)).problems).toEqual([]);
    // Exactly the executed grants are recorded.
    for (const { id } of keys) {
      const grants = await store.read
        .selectFrom('grants')
        .select('amount')
        .where('token_id', '=', id)
        .where('given_by', '=', admin.userId)
        .orderBy('amount')
        .execute();
      const recorded = (await listChangesOf(`token ${id}`))
        .filter(({ action }) => action === 'grantQuota')
        .map(({ details }) => (JSON.parse(details) as { amount: number }).amount);
      expect(recorded.sort((a, b) => a - b)).toEqual(grants.map(({ amount }) => amount));
    }
  });

  test('a grant with an idempotency key is made once, however many send it at once', async () => {
    const token = await makeToken(store);
    const sent = await Promise.all(Array.from({ length: 20 }, () => give(token, 7, { name: 'once' })));
    expect(new Set(sent.map((one) => (one.outcome === 'granted' ? one.grant.id : one.outcome))).size).toBe(1);
    expect(await left(token)).toBe(7);
    expect(await listChangesOf(`token ${token.id}`)).toHaveLength(1);
    expect(await give(token, 8, { name: 'once' })).toEqual({ outcome: 'reused' });
    expect(await give(token, 7, { name: 'once', reason: 'other' })).toEqual({ outcome: 'reused' });
    expect((await auditLedger(store.read)).problems).toEqual([]);
  });

  test('a refused grant leaves nothing behind, also no idempotency key', async () => {
    const token = await makeToken(store, { remainQuota: 5 });
    expect(await give(token, -6, { name: 'refused' })).toEqual({ outcome: 'out_of_range', left: 5 });
    expect(await give(token, 10 ** 15, { name: 'refused' })).toEqual({ outcome: 'out_of_range', left: 5 });
    expect(await listChangesOf(`token ${token.id}`)).toEqual([]);
    expect(await give(token, -5, { name: 'refused' })).toMatchObject({ outcome: 'granted' });
    expect(await give({ id: 4_711 }, 1)).toEqual({ outcome: 'not_found' });
    const held = await makeToken(store, { remainQuota: 5 });
    const request = { requestId: 'held', token: held, model: 'm', unit: 'characters', amount: 5 } as const;
    await ledger.reserve(request);
    expect(await give(held, -1)).toEqual({ outcome: 'out_of_range', left: 0 });
    await ledger.refund({ requestId: 'held' });
    expect(await give(held, -1)).toMatchObject({ outcome: 'granted', grant: { left: 4 } });
  });

  test('the ledger balances when a key loses and gets a limit during charges', async () => {
    const token = await makeToken(store, { remainQuota: 300 });
    const change = by('updateToken');
    await Promise.all([
      ...Array.from({ length: 8 }, () => spend(token, 11)),
      ...[true, false, true, false].map((unlimitedQuota) =>
        store.run('updateToken', { id: token.id, set: { unlimitedQuota }, change }),
      ),
      give(token, 40),
    ]);
    expect((await auditLedger(store.read)).problems).toEqual([]);
  });

  test('at least one admin is always enabled', async () => {
    const others = await Promise.all(
      ['second', 'third'].map((name) =>
        store.run('createUser', { name, group: 'default', role: 'admin', now }),
      ),
    );
    const all = [{ id: admin.userId }, ...others];
    for (const set of [{ disabled: true }, { role: 'user' }, { disabled: true, role: 'user' }]) {
      const ends = await Promise.all(all.map((one) => update(one, set)));
      expect(ends.filter((end) => end === 'last_admin')).toHaveLength(1);
      const { users } = await searchUsers(store.read, { name: '', limit: 100, offset: 0 });
      const able = users.filter(({ role, disabled }) => role === 'admin' && !disabled);
      expect(able).toHaveLength(1);
      // The remaining admin can do everything else, and restore the others.
      expect(await update(able[0] ?? { id: 0 }, { name: 'left' })).toMatchObject({ name: 'left' });
      for (const one of all) await update(one, { role: 'admin', disabled: false });
    }
    for (const one of others) await update(one, { role: 'user' });
    expect(await update({ id: admin.userId }, { role: 'user' })).toBe('last_admin');
    expect(await update({ id: 4_711 }, { role: 'user' })).toBe('not_found');
  });

  test('an update that changes nothing records no change', async () => {
    const token = await makeToken(store, { modelLimits: ['m'] });
    const set = { name: 'a key', status: 1, modelLimits: ['m'], group: null } as const;
    expect(await store.run('updateToken', { id: token.id, set, change: by('updateToken') })).toEqual(token);
    await update({ id: token.userId }, { name: 'someone', disabled: false });
    expect(await listChangesOf(`token ${token.id}`)).toEqual([]);
    expect(await listChangesOf(`user ${token.userId}`)).toEqual([]);
  });

  test('a changed key has the new values, and the rest as before', async () => {
    const token = await makeToken(store, { remainQuota: 3 });
    const set = {
      name: 'other',
      status: 2,
      unlimitedQuota: true,
      expiredTime: 2_000_000_000,
      modelLimits: ['m', 'n'],
      allowIps: ['10.0.0.0/8'],
      group: 'trial',
      requestsPerMinute: 0,
      sockets: 2,
    } as const;
    const changed = await store.run('updateToken', { id: token.id, set, change: by('updateToken') });
    expect(changed).toEqual({ ...token, ...set, ownGroup: 'trial' });
    expect(await findToken(store.read, token.id)).toEqual(changed);
    await revoke(token);
    expect(await store.run('updateToken', { id: token.id, set, change: by('updateToken') })).toBe(
      'not_found',
    );
  });

  test('users and keys are found by name, group and status; sums include existing keys only', async () => {
    const { id: userId } = await store.run('createUser', { name: 'Çelik 100%', group: 'trial', now });
    await update({ id: userId }, { disabled: true });
    const own = { userId, expiredTime: -1 };
    const big = Number.MAX_SAFE_INTEGER;
    const keys = [
      await makeToken(store, { ...own, name: 'Ärger_1', remainQuota: big }),
      await makeToken(store, { ...own, name: 'ended', remainQuota: 1, expiredTime: now / 1_000 }),
      await makeToken(store, { ...own, name: 'free', unlimitedQuota: true, remainQuota: 50, group: 'paid' }),
    ];
    await revoke(await makeToken(store, { ...own, name: 'gone', remainQuota: 9 }));
    // The sums of all keys exceed the exact range of a number.
    await makeToken(store, { remainQuota: big });
    const audit = await auditLedger(store.read);
    expect(audit.problems).toEqual([]);
    expect(audit.left).toBeGreaterThan(big);
    const sums = { keys: 3, remainQuota: big + 1, usedQuota: 0, disabled: true };
    for (const name of ['çelik', '00%', 'ÇELIK'])
      expect(await searchUsers(store.read, { name, group: 'trial', limit: 9, offset: 0 })).toMatchObject({
        users: [{ id: userId, ...sums }],
        total: 1,
      });
    expect(await findUser(store.read, userId)).toMatchObject(sums);
    const found = async (search: Partial<Parameters<typeof searchTokens>[1]>) => {
      const { tokens } = await searchTokens(store.read, {
        userId,
        name: '',
        now,
        limit: 9,
        offset: 0,
        ...search,
      });
      return tokens.map(({ id }) => keys.findIndex((key) => key.id === id));
    };
    expect(await found({})).toEqual([2, 1, 0]);
    expect(await found({ name: 'ärger_' })).toEqual([0]);
    expect(await found({ name: 'e', limit: 1, offset: 1 })).toEqual([1]);
    expect(await found({ group: 'trial' })).toEqual([1, 0]);
    expect(await found({ group: 'paid', status: 1 })).toEqual([2]);
    expect(await found({ status: 3 })).toEqual([1]);
    expect(await found({ status: 3, now: now - 1 })).toEqual([]);
    const counts = (await countGroups(store.read)).filter(({ name }) => name !== 'default');
    expect(counts.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      { name: 'paid', users: 0, keys: 1 },
      { name: 'trial', users: 1, keys: 0 },
    ]);
  });
});
