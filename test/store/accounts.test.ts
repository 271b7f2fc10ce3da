import { describe, expect, test } from 'vitest';
import { generateKey, hashKey, keyHint } from '../../server/store/keys.ts';
import { findTokenByHash } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { engines } from './engines.ts';
import { makeToken } from './ledger.ts';
import { eachTestOnOneStore } from './one-store.ts';

describe.each(engines)('accounts on %s', (engine) => {
  let store: Store;
  eachTestOnOneStore(engine, (made) => {
    store = made.store;
  });

  test('a token is found by the hash of its key, with its rights and limits', async () => {
    const user = await store.run('createUser', { name: 'someone', group: 'trial', now: 5_000 });
    const key = generateKey();
    const created = await store.run('createToken', {
      userId: user.id,
      name: 'a key',
      keyHash: hashKey(key),
      keyHint: keyHint(key),
      remainQuota: 500,
      expiredTime: 1_900_000_000,
      modelLimits: ['alpha3-*', 'voxa-v2'],
      now: 1_700_000_000_999,
    });
    expect(created).toEqual({
      id: expect.any(Number),
      userId: user.id,
      userName: 'someone',
      parentId: null,
      name: 'a key',
      keyHint: `sk-***${key.slice(-4)}`,
      group: 'trial',
      ownGroup: null,
      role: 'user',
      userDisabled: false,
      status: 1,
      unlimitedQuota: false,
      hasWallet: false,
      hasEmptyWallet: false,
      hasBudget: false,
      memberId: null,
      memberRole: null,
      remainQuota: 500,
      usedQuota: 0,
      debt: 0,
      expiredTime: 1_900_000_000,
      modelLimits: ['alpha3-*', 'voxa-v2'],
      allowIps: null,
      allowanceId: null,
      requestsPerMinute: null,
      sockets: null,
      adminScope: false,
      isSession: false,
      canCreateKeys: true,
      makerId: null,
      lineage: { ancestorIds: [], isCutOff: false, expiredTime: -1 },
      createdTime: 1_700_000_000,
    });
    expect(await findTokenByHash(store.read, hashKey(key))).toEqual(created);
    expect(await findTokenByHash(store.read, hashKey(`${key}x`))).toBeUndefined();
  });

  test('by default a token has no quota, no expiry and no limits, and its own group takes precedence', async () => {
    const token = await makeToken(store, { group: 'paid' });
    expect(token).toMatchObject({
      remainQuota: 0,
      unlimitedQuota: false,
      hasWallet: false,
      expiredTime: -1,
      modelLimits: null,
    });
    expect(token.group).toBe('paid');
  });

  test('a hash can be used once', async () => {
    await makeToken(store, { keyHash: 'same' });
    await expect(makeToken(store, { keyHash: 'same' })).rejects.toThrow(/unique/i);
  });

  test('the bootstrap key belongs to user 1, whatever users exist, and is created once', async () => {
    const { id } = await store.run('createUser', { name: 'early', group: 'default', now: 1 });
    expect(id).not.toBe(1);
    const key = { keyHash: 'first', keyHint: 'hint', now: 1_000 };
    expect(await store.run('ensureBootstrap', key)).toMatchObject({ created: true, earlier: [] });
    expect(await store.run('ensureBootstrap', key)).toMatchObject({ created: false, earlier: [] });
    expect(await findTokenByHash(store.read, 'first')).toMatchObject({
      userId: 1,
      group: 'default',
      role: 'admin',
      unlimitedQuota: true,
      status: 1,
    });
    const later = await store.run('createUser', { name: 'later', group: 'default', now: 1 });
    expect(later.id).toBeGreaterThan(id);
  });

  test('a second given key is added, a second generated one is not', async () => {
    const key = (keyHash: string) => ({ keyHash, keyHint: 'hint', now: 1 });
    await store.run('ensureBootstrap', key('first'));
    const generated = await store.run('ensureBootstrap', { ...key('generated'), onlyFirst: true });
    expect(generated).toMatchObject({ created: false, earlier: [] });
    expect(await findTokenByHash(store.read, 'generated')).toBeUndefined();
    expect(await store.run('ensureBootstrap', key('given'))).toMatchObject({ created: true });
    expect(await findTokenByHash(store.read, 'given')).toMatchObject({ userId: 1 });
  });

  test('a deleted bootstrap key stays deleted; without any key one is generated', async () => {
    const key = (keyHash: string) => ({ keyHash, keyHint: 'hint', now: 1 });
    await store.run('ensureBootstrap', key('first'));
    const { id } = (await findTokenByHash(store.read, 'first')) ?? { id: 0 };
    await store.run('deleteToken', { id, userId: 1, by: null, now: 2 });
    const again = await store.run('ensureBootstrap', key('first'));
    expect(again).toEqual({ created: false, deleted: true, lacksAdmin: false, earlier: [] });
    expect(await findTokenByHash(store.read, 'first')).toBeUndefined();
    const generated = await store.run('ensureBootstrap', { ...key('generated'), onlyFirst: true });
    expect(generated).toMatchObject({ created: true, deleted: false });
  });
});

describe.each(engines)('bootstrap keys on %s', (engine) => {
  let store: Store;
  eachTestOnOneStore(engine, (made) => {
    store = made.store;
  });

  const start = async (keyHash?: string) => {
    const given = keyHash ?? 'generated';
    const onlyFirst = keyHash === undefined;
    return store.run('ensureBootstrap', { keyHash: given, keyHint: 'hint', onlyFirst, now: 5_000 });
  };
  const found = async (keyHash: string) => {
    const token = await findTokenByHash(store.read, keyHash);
    if (token === undefined) throw new Error(`there is no key ${keyHash}`);
    return token;
  };
  const change = { userId: 1, tokenId: 1, action: 'x', now: 1 };
  const first = { id: 1, name: 'bootstrap' };

  test('have names of their own, and earlier ones that are valid are reported at each start', async () => {
    expect(await start('one')).toMatchObject({ created: true, earlier: [] });
    expect(await start('two')).toMatchObject({ created: true, earlier: [first] });
    expect(await found('two')).toMatchObject({ name: 'bootstrap-2', adminScope: true });
    expect(await start('two')).toMatchObject({ created: false, earlier: [first] });
    // A gateway that still has the earlier key reports the later one.
    const { id } = await found('two');
    expect(await start('one')).toMatchObject({ created: false, earlier: [{ id, name: 'bootstrap-2' }] });
    expect(await start()).toMatchObject({ created: false, earlier: [first] });
    await store.run('deleteToken', { id, userId: 1, by: null, now: 2 });
    expect(await start('three')).toMatchObject({ created: true, earlier: [first] });
    expect(await found('three')).toMatchObject({ name: 'bootstrap-3' });
  });

  test('that are disabled or expired are not reported, and neither are keys of that name', async () => {
    await start('one');
    await makeToken(store, { userId: 1, name: 'bootstrap', unlimitedQuota: true });
    await store.run('updateToken', { id: 1, set: { status: 2 }, change });
    expect(await start('two')).toMatchObject({ earlier: [] });
    const { id } = await found('two');
    await store.run('updateToken', { id, set: { adminScope: false, expiredTime: 5 }, change });
    expect(await start('three')).toMatchObject({ earlier: [] });
  });

  test('without admin access are reported, and another bootstrap key restores it', async () => {
    await start('one');
    await store.run('updateToken', { id: 1, set: { adminScope: false }, change });
    expect(await start('one')).toMatchObject({ created: false, lacksAdmin: true });
    expect(await start('two')).toMatchObject({ created: true, lacksAdmin: false });
  });

  test('belong to the first enabled admin, so that they have access when root has lost it', async () => {
    await start('one');
    const admin = await store.run('createUser', { name: 'a', group: 'default', role: 'admin', now: 1 });
    await store.run('updateUser', { id: 1, set: { role: 'user' }, change });
    expect(await start('two')).toMatchObject({ created: true, lacksAdmin: false });
    expect(await found('two')).toMatchObject({ userId: admin.id, role: 'admin' });
  });
});

describe('keys', () => {
  test('each generated key is different and has 256 random bits', () => {
    const keys = new Set(Array.from({ length: 100 }, generateKey));
    expect(keys.size).toBe(100);
    for (const key of keys) expect(key).toMatch(/^sk-[\w-]{43}$/);
  });

  test('the hash is SHA-256 in hex', () => {
    expect(hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  test('the hint of a short key shows nothing of it', () => {
    expect(keyHint('sk-0123456789abcdefgh')).toBe('sk-***efgh');
    expect(keyHint('local-dev-key')).toBe('***');
  });
});
