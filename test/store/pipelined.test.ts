import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Ledger } from '../../server/quota/ledger.ts';
import { standardLimits } from '../../server/settings/database.ts';
import type { LogEntry } from '../../server/store/commands/log-entries.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { DatabaseProxy } from './database-proxy.ts';
import { engines, TestStore } from './engines.ts';
import { logEntry, logRows, makeToken } from './ledger.ts';

describe.runIf(engines.includes('postgres'))('pipelined statements on PostgreSQL', () => {
  let testStore: TestStore;
  let proxy: DatabaseProxy;
  let store: Store;
  let token: TokenRecord;

  beforeEach(async () => {
    testStore = await TestStore.make('postgres');
    proxy = await DatabaseProxy.start();
    store = await open();
    token = await makeToken(store, { remainQuota: 10_000 });
    await store.run('recordHeartbeat', { id: 'here', heartbeat: 0 });
  });
  afterEach(async () => {
    await testStore.remove();
    await proxy.close();
  });

  /** Opens the store with one connection, which all commands share and which has no prepared statements. */
  const open = () =>
    testStore.open({ databaseUrl: proxy.url, postgres: { ...standardLimits, connections: 1 } });
  const lease = (grow: boolean) => {
    const amounts = { need: 1, want: 100, now: 1 };
    return store.run('grantLease', { id: 'here.1', grow, tokenId: token.id, gateway: 'here', ...amounts });
  };
  const book = (requestId: string, change: Partial<LogEntry> = {}) => {
    const key = { tokenId: token.id, userId: token.userId, model: 'm', unit: 'characters' };
    const hold = { lease: 'here.1', held: 2, charged: 2, returned: 0, endedAt: 1_000 };
    return store.run('settleCalls', {
      calls: [{ requestId, ...key, ...hold, log: { ...logEntry, ...change } }],
    });
  };
  const books = async () => {
    const key = await store.read
      .selectFrom('tokens')
      .select(['remain_quota', 'leased_quota', 'used_quota'])
      .where('id', '=', token.id)
      .executeTakeFirst();
    const leases = await store.read.selectFrom('quota_leases').select(['granted', 'remaining']).execute();
    return [(await logRows(store)).map((row) => row.request_id), leases, key];
  };
  const booked = (...ids: string[]) => [
    ids,
    [{ granted: 100, remaining: 100 - 2 * ids.length }],
    { remain_quota: 9_900, leased_quota: 100 - 2 * ids.length, used_quota: 2 * ids.length },
  ];

  test('undo the transaction when they fail, and the commit behind them commits nothing', async () => {
    await lease(false);
    await expect(book('a', { units: Number.NaN })).rejects.toThrow('violates not-null constraint');
    expect(await books()).toEqual(booked());
    await book('b');
    await expect(book('c', { durationMs: Number.NaN })).rejects.toThrow('violates not-null constraint');
    await book('d');
    expect(await books()).toEqual(booked('b', 'd'));
  });

  test('report their own failure, and not that of the statements behind them', async () => {
    const request = { requestId: 'r', model: 'm', unit: 'characters' as const };
    await new Ledger(store, 'here').reserve({ ...request, token, amount: 10 });
    const settle = (units: number) =>
      store.run('settle', { requestId: 'r', charged: 4, log: { ...logEntry, units }, now: 5 });
    for (let round = 0; round < 9; round += 1)
      await expect(settle(Number.NaN)).rejects.toThrow('violates not-null constraint');
    expect(await settle(1)).toEqual({ charged: 4, debt: 0 });
  });

  test.each(
    [
      'begin isolation',
      'insert into commits',
      'insert into request_log',
      'update tokens',
      'commit\0',
    ].flatMap((statement) => [[statement, 'before'] as const, [statement, 'after'] as const]),
  )('are executed once, also when the connection breaks at %j, %s it has arrived', async (words, when) => {
    await lease(false);
    store = await open();
    const cut = proxy.cut(words, when);
    expect(await book('a')).toEqual({ settlements: [{ charged: 2, debt: 0 }], gone: [] });
    await cut;
    expect(await books()).toEqual(booked('a'));
    await book('b');
    expect(await books()).toEqual(booked('a', 'b'));
  });

  test.each(['update quota_leases', 'update tokens', 'commit\0'].map((words) => [words]))(
    'take no quota twice when the connection breaks at %j',
    async (words) => {
      await lease(false);
      for (const when of ['before', 'after'] as const) {
        store = await open();
        const cut = proxy.cut(words, when);
        expect(await lease(true)).toEqual({ outcome: 'granted', amount: 100 });
        await cut;
      }
      expect((await books()).slice(1)).toEqual([
        [{ granted: 300, remaining: 300 }],
        { remain_quota: 9_700, leased_quota: 300, used_quota: 0 },
      ]);
    },
  );
});
