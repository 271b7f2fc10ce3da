import { describe, expect, test } from 'vitest';
import { generateKey, hashKey, keyHint } from '../../server/store/keys.ts';
import { findTokenByHash } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { makeToken } from './books.ts';
import { engines } from './engines.ts';
import { eachTestOnOneStore } from './one-store.ts';

describe.each(engines)('accounts on %s', (engine) => {
  let store: Store;
  eachTestOnOneStore(engine, (made) => {
    store = made.store;
  });

  test('a token is found by the hash of its key, with all that decides about its use', async () => {
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
      name: 'a key',
      keyHint: `sk-***${key.slice(-4)}`,
      group: 'trial',
      ownGroup: null,
      role: 'user',
      userDisabled: false,
      status: 1,
      unlimitedQuota: false,
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
      canCreateKeys: true,
      makerId: null,
      lineage: { ancestorIds: [], isCutOff: false, expiredTime: -1 },
      createdTime: 1_700_000_000,
    });
    expect(await findTokenByHash(store.read, hashKey(key))).toEqual(created);
    expect(await findTokenByHash(store.read, hashKey(`${key}x`))).toBeUndefined();
  });

  test('without more said a token has no quota, no expiry, no limits and its own group wins', async () => {
    const token = await makeToken(store, { group: 'paid' });
    expect(token).toMatchObject({
      remainQuota: 0,
      unlimitedQuota: false,
      expiredTime: -1,
      modelLimits: null,
    });
    expect(token.group).toBe('paid');
  });

  test('a hash can be used once', async () => {
    await makeToken(store, { keyHash: 'same' });
    await expect(makeToken(store, { keyHash: 'same' })).rejects.toThrow(/unique/i);
  });

  test('the bootstrap key belongs to user 1, whoever came first, and is made once', async () => {
    const { id } = await store.run('createUser', { name: 'early', group: 'default', now: 1 });
    expect(id).not.toBe(1);
    const key = { keyHash: 'first', keyHint: 'hint', now: 1_000 };
    expect(await store.run('ensureBootstrap', key)).toMatchObject({ created: true, anyKeyExisted: false });
    expect(await store.run('ensureBootstrap', key)).toMatchObject({ created: false, anyKeyExisted: true });
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
    expect(generated).toMatchObject({ created: false, anyKeyExisted: true });
    expect(await findTokenByHash(store.read, 'generated')).toBeUndefined();
    expect(await store.run('ensureBootstrap', key('given'))).toMatchObject({ created: true });
    expect(await findTokenByHash(store.read, 'given')).toMatchObject({ userId: 1 });
  });

  test('a bootstrap key that was deleted stays deleted; without any key a generated one is made', async () => {
    const key = (keyHash: string) => ({ keyHash, keyHint: 'hint', now: 1 });
    await store.run('ensureBootstrap', key('first'));
    const { id } = (await findTokenByHash(store.read, 'first')) ?? { id: 0 };
    await store.run('deleteToken', { id, userId: 1, by: null, now: 2 });
    const again = await store.run('ensureBootstrap', key('first'));
    expect(again).toEqual({ created: false, anyKeyExisted: false, deleted: true });
    expect(await findTokenByHash(store.read, 'first')).toBeUndefined();
    const generated = await store.run('ensureBootstrap', { ...key('generated'), onlyFirst: true });
    expect(generated).toMatchObject({ created: true, deleted: false });
  });
});

describe('keys', () => {
  test('a generated key is never the same and carries 256 bits', () => {
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
