import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { KeyCache } from '../../server/keys/key-cache.ts';
import { systemTimers } from '../../server/lib/timers.ts';
import { Ledger } from '../../server/quota/ledger.ts';
import type { ChangeSet } from '../../server/store/change-feed.ts';
import { hashKey } from '../../server/store/keys.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { ManualTimers } from '../support/manual-timers.ts';
import { databaseUrl, engines, onServer, TestStore } from './engines.ts';
import { disableToken, logEntry, makeToken } from './ledger.ts';

const within = { timeout: 30_000, interval: 20 };
const change = { userId: 1, tokenId: 1, action: 'updateToken', now: 1 };

describe.skipIf(!engines.includes('postgres'))('the change feed of a store', { timeout: 90_000 }, () => {
  let testStore: TestStore;
  /** A store without a feed, which makes the changes. */
  let other: Store;
  beforeAll(async () => {
    testStore = await TestStore.make('postgres');
    other = await testStore.open();
  });
  afterAll(() => testStore.remove());

  /** Opens a store with a change feed and records what it delivers. */
  async function listening(url = databaseUrl) {
    const session = `listen_${randomUUID()}`;
    const address = new URL(url);
    address.searchParams.set('application_name', session);
    const states: (true | string)[] = [];
    const store = await testStore.open({
      changeFeed: {
        databaseUrl: address.href,
        onConnection: (isConnected, reason) => states.push(isConnected || (reason?.message ?? '')),
      },
    });
    const received: ChangeSet[] = [];
    store.changeFeed?.subscribe((changes) => received.push(changes));
    const connected = () => vi.waitFor(() => expect(store.changeFeed?.epoch).toBeDefined(), within);
    const cut = () =>
      onServer((client) =>
        client.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [
          session,
        ]),
      );
    return { store, received, states, connected, cut };
  }

  test('delivers changes of the rights of keys and users and recalled leases, and nothing else', async () => {
    const { store, received, connected } = await listening();
    await connected();
    const token = await makeToken(other, { remainQuota: 1_000 });
    const quiet = await makeToken(other, { remainQuota: 1_000 });
    // Every call changes these columns.
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
    await vi.waitFor(
      () => expect(received.some(({ userIds: users }) => users.has(token.userId))).toBe(true),
      within,
    );
    const all = (of: 'keyIds' | 'recalledKeyIds' | 'userIds') =>
      received.flatMap((changes) => [...changes[of]]);
    expect(new Set(all('keyIds'))).toEqual(new Set([token.id]));
    expect(all('recalledKeyIds')).toContain(token.id);
    expect(new Set(all('userIds'))).toEqual(new Set([token.userId]));
    await store.close();
  });

  test('has another epoch after its connection was cut, and reports the cut once', async () => {
    const { store, received, states, connected, cut } = await listening();
    await connected();
    const { epoch: era } = store.changeFeed ?? {};
    await cut();
    await vi.waitFor(() => expect(store.changeFeed?.epoch).not.toBe(era), within);
    await connected();
    expect(store.changeFeed?.epoch).not.toBe(era);
    expect(states).toEqual([true, expect.any(String), true]);
    const token = await makeToken(other);
    await disableToken(other, token);
    await vi.waitFor(() => expect(received.some(({ keyIds }) => keyIds.has(token.id))).toBe(true), within);
    await store.close();
    expect(states).toHaveLength(3);
  });

  test('has no epoch over a connection to another database', async () => {
    const elsewhere = new URL(databaseUrl);
    elsewhere.pathname = '/postgres';
    const { store, states } = await listening(elsewhere.href);
    await vi.waitFor(() => expect(states).toHaveLength(1), within);
    expect(states).toEqual(['the listening connection leads to a database without these tables']);
    expect(store.changeFeed?.epoch).toBeUndefined();
    await store.close();
  });

  test('keeps a key cached until another gateway disables it, whether the feed delivers or misses the change', async () => {
    const { store, connected, cut } = await listening();
    await connected();
    // The clock does not advance, so nothing expires.
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
    await connected();
    expect(known(keys[1])).toBe(false);
    await store.close();
  });

  test('combines many changes into few change sets', async () => {
    const { store, received, connected } = await listening();
    await connected();
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
      () => expect(received.some(({ keyIds, overflow }) => overflow || keyIds.has(token.id))).toBe(true),
      within,
    );
    const overflow = received.some(({ overflow }) => overflow);
    const listed = received.reduce((sum, { keyIds }) => sum + keyIds.size, 0);
    expect(overflow || listed >= count).toBe(true);
    expect(received.length).toBeLessThan(count / 50);
    await store.close();
  });

  test('after a blocked event loop, a key that was disabled meanwhile is not accepted', async () => {
    const { store, received, connected } = await listening();
    await connected();
    const ring = new KeyCache({ store, timers: systemTimers, clock: Date.now });
    const key = `sk-${randomUUID()}`;
    const token = await makeToken(other, { keyHash: hashKey(key) });
    await ring.authenticate(key, '192.0.2.1');
    expect(ring.getCached(key, '192.0.2.1')).toBeDefined();
    const { promise: updated, resolve } = Promise.withResolvers<void>();
    const changing = onServer(async (client) => {
      await client.query(`set search_path = ${testStore.options.schema}`);
      // It is sent now. Its response and the notification wait in their sockets while the event loop is blocked.
      const answered = client.query('update tokens set status = 2 where id = $1', [token.id]);
      blockEventLoop(600);
      // The first code that runs after the pause.
      expect(ring.getCached(key, '192.0.2.1')).toBeUndefined();
      expect(store.changeFeed).toMatchObject({ epoch: undefined, isBehind: true });
      await answered;
      resolve();
    });
    await updated;
    await expect(ring.authenticate(key, '192.0.2.1')).rejects.toMatchObject({ status: 401 });
    await connected();
    // When the feed has caught up, the change has been delivered.
    expect(received.some(({ keyIds }) => keyIds.has(token.id))).toBe(true);
    expect(ring.getCached(key, '192.0.2.1')).toBeUndefined();
    await changing;
    await store.close();
  });
});

/** Blocks the process, as SIGSTOP does. */
function blockEventLoop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
