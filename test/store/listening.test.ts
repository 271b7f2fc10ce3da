import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { KeyCache } from '../../server/keys/key-cache.ts';
import { systemTimers } from '../../server/lib/timers.ts';
import { Ledger } from '../../server/quota/ledger.ts';
import { hashKey } from '../../server/store/keys.ts';
import type { News } from '../../server/store/news.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { ManualTimers } from '../support/manual-timers.ts';
import { disableToken, logEntry, makeToken } from './books.ts';
import { databaseUrl, engines, onServer, TestStore } from './engines.ts';

const within = { timeout: 30_000, interval: 20 };
const change = { userId: 1, tokenId: 1, action: 'updateToken', now: 1 };

describe.skipIf(!engines.includes('postgres'))('a store that listens', { timeout: 90_000 }, () => {
  let testStore: TestStore;
  /** One that changes things, and says nothing of it. */
  let other: Store;
  beforeAll(async () => {
    testStore = await TestStore.make('postgres');
    other = await testStore.open();
  });
  afterAll(() => testStore.remove());

  /** With what it heard, and the session it listens over. */
  async function listening(url = databaseUrl) {
    const session = `listen_${randomUUID()}`;
    const address = new URL(url);
    address.searchParams.set('application_name', session);
    const states: (true | string)[] = [];
    const store = await testStore.open({
      hear: {
        databaseUrl: address.href,
        onHearing: (hears, reason) => states.push(hears || (reason?.message ?? '')),
      },
    });
    const heard: News[] = [];
    store.hearing?.subscribe((news) => heard.push(news));
    const begun = () => vi.waitFor(() => expect(store.hearing?.era).toBeDefined(), within);
    const cut = () =>
      onServer((client) =>
        client.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [
          session,
        ]),
      );
    return { store, heard, states, begun, cut };
  }

  test('hears of what keys and users may do now, and of leases that are recalled, and of nothing else', async () => {
    const { store, heard, begun } = await listening();
    await begun();
    const token = await makeToken(other, { remainQuota: 1_000 });
    const quiet = await makeToken(other, { remainQuota: 1_000 });
    // What every call does.
    const ledger = new Ledger(other, 'gateway_1');
    const call = {
      requestId: randomUUID(),
      token: quiet,
      model: 'm',
      unit: 'characters' as const,
      amount: 10,
    };
    expect(await ledger.reserve({ ...call, token: { id: quiet.id, userId: quiet.userId } })).toBe('reserved');
    await ledger.settle({ requestId: call.requestId, charged: 5, log: logEntry });
    await other.run('recallLeases', { tokenId: token.id });
    await disableToken(other, token);
    await other.run('updateUser', { id: token.userId, set: { disabled: true }, change });
    await vi.waitFor(() => expect(heard.some(({ users }) => users.has(token.userId))).toBe(true), within);
    const all = (of: 'tokens' | 'leases' | 'users') => heard.flatMap((news) => [...news[of]]);
    expect(new Set(all('tokens'))).toEqual(new Set([token.id]));
    expect(all('leases')).toContain(token.id);
    expect(new Set(all('users'))).toEqual(new Set([token.userId]));
    await store.close();
  });

  test('knows that it may have missed something when its connection was cut, and says so once', async () => {
    const { store, heard, states, begun, cut } = await listening();
    await begun();
    const { era } = store.hearing ?? {};
    await cut();
    await vi.waitFor(() => expect(store.hearing?.era).not.toBe(era), within);
    await begun();
    expect(store.hearing?.era).not.toBe(era);
    expect(states).toEqual([true, expect.any(String), true]);
    const token = await makeToken(other);
    await disableToken(other, token);
    await vi.waitFor(() => expect(heard.some(({ tokens }) => tokens.has(token.id))).toBe(true), within);
    await store.close();
    expect(states).toHaveLength(3);
  });

  test('does not believe a connection over which nothing comes', async () => {
    const elsewhere = new URL(databaseUrl);
    elsewhere.pathname = '/postgres';
    const { store, states } = await listening(elsewhere.href);
    await vi.waitFor(() => expect(states).toHaveLength(1), within);
    expect(states).toEqual(['the listening connection leads to a database without these tables']);
    expect(store.hearing?.era).toBeUndefined();
    await store.close();
  });

  test('lets a key be known for long, which ends when another gateway revokes it, be that heard of or missed', async () => {
    const { store, begun, cut } = await listening();
    await begun();
    // Its clock stands still: nothing is forgotten with time.
    const timers = new ManualTimers();
    const ring = new KeyCache({ store, timers, clock: () => timers.now });
    const keys = [`sk-${randomUUID()}`, `sk-${randomUUID()}`] as const;
    const made: TokenRecord[] = [];
    for (const key of keys) made.push(await makeToken(other, { keyHash: hashKey(key) }));
    const [first, second] = made as [TokenRecord, TokenRecord];
    const known = (key: string) => ring.getCached(key, '192.0.2.1') !== undefined;
    for (const key of keys) await ring.authenticate(key, '192.0.2.1');
    timers.advance(20_000);
    await vi.waitFor(() => expect(keys.map(known)).toEqual([true, true]), within);
    await disableToken(other, first);
    await vi.waitFor(() => expect(known(keys[0])).toBe(false), within);
    await cut();
    await disableToken(other, second);
    await vi.waitFor(() => expect(known(keys[1])).toBe(false), within);
    await begun();
    expect(known(keys[1])).toBe(false);
    await store.close();
  });

  test('is told of a flood of changes in few pieces', async () => {
    const { store, heard, begun } = await listening();
    await begun();
    const token = await makeToken(other);
    const { schema } = testStore.options;
    const count = 3_000;
    await onServer((client) =>
      client.query(
        `select pg_notify('unigate_' || md5($1), 'token ' || n) from generate_series(100000, $2::int) n`,
        [schema, 100_000 + count - 1],
      ),
    );
    await disableToken(other, token);
    await vi.waitFor(
      () => expect(heard.some(({ tokens, flood }) => flood || tokens.has(token.id))).toBe(true),
      within,
    );
    const flood = heard.some((news) => news.flood);
    const told = heard.reduce((sum, { tokens }) => sum + tokens.size, 0);
    expect(flood || told >= count).toBe(true);
    expect(heard.length).toBeLessThan(count / 50);
    await store.close();
  });

  test('after a blocked event loop, a key that was disabled meanwhile is not accepted', async () => {
    const { store, heard, begun } = await listening();
    await begun();
    const ring = new KeyCache({ store, timers: systemTimers, clock: Date.now });
    const key = `sk-${randomUUID()}`;
    const token = await makeToken(other, { keyHash: hashKey(key) });
    await ring.authenticate(key, '192.0.2.1');
    expect(ring.getCached(key, '192.0.2.1')).toBeDefined();
    const { promise: updated, resolve } = Promise.withResolvers<void>();
    const changing = onServer(async (client) => {
      await client.query(`set search_path = ${testStore.options.schema}`);
      // It is sent now. Its answer and the announcement wait in their sockets while the loop is blocked.
      const answered = client.query('update tokens set status = 2 where id = $1', [token.id]);
      blockEventLoop(600);
      // The first code that runs after the pause.
      expect(ring.getCached(key, '192.0.2.1')).toBeUndefined();
      expect(store.hearing).toMatchObject({ era: undefined, isBehind: true });
      await answered;
      resolve();
    });
    await updated;
    await expect(ring.authenticate(key, '192.0.2.1')).rejects.toMatchObject({ status: 401 });
    await begun();
    // When the feed has caught up, the change has been delivered.
    expect(heard.some(({ tokens }) => tokens.has(token.id))).toBe(true);
    expect(ring.getCached(key, '192.0.2.1')).toBeUndefined();
    await changing;
    await store.close();
  });
});

/** Stands for SIGSTOP: nothing of this process runs meanwhile. */
function blockEventLoop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
