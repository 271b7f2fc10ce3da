import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Cluster, serverPrograms } from './cluster.ts';
import { DatabaseProxy } from './database-proxy.ts';
import { databaseUrl, engines, onServer, TestStore } from './engines.ts';
import { makeToken } from './ledger.ts';

/** Returns an address with the hosts of several. */
function joined(...urls: string[]): string {
  const hosts = urls.map((url) => new URL(url).host).join(',');
  const [first = ''] = urls;
  const url = new URL(first);
  return `${url.protocol}//${url.username}@${hosts}${url.pathname}?target_session_attrs=read-write`;
}

describe.runIf(engines.includes('postgres'))('a database of several servers', () => {
  let testStore: TestStore;
  let left: DatabaseProxy;
  let right: DatabaseProxy;
  beforeAll(async () => {
    testStore = await TestStore.make('postgres');
    left = await DatabaseProxy.start();
    right = await DatabaseProxy.start();
  });
  afterAll(async () => {
    await testStore.remove();
    await left.close();
    await right.close();
  });

  test('is served by the next one when the connections to the first are lost', async () => {
    const connected: boolean[] = [];
    const store = await testStore.open({
      databaseUrl: joined(left.url, right.url),
      changeFeed: { databaseUrl: undefined, onConnection: (isConnected) => connected.push(isConnected) },
    });
    await makeToken(store, { remainQuota: 1 });
    await vi.waitFor(() => expect(connected).toEqual([true]));
    left.down();
    await makeToken(store, { remainQuota: 1 });
    await store.check();
    await vi.waitFor(() => expect(connected).toEqual([true, false, true]));
    left.up();
    right.down();
    await makeToken(store, { remainQuota: 1 });
    right.up();
  });

  test('is unavailable while none answers', async () => {
    const store = await testStore.open({ databaseUrl: joined(left.url, right.url) });
    left.down();
    right.down();
    await expect(store.check()).rejects.toMatchObject({ status: 503, cause: expect.any(AggregateError) });
    right.up();
    await vi.waitFor(() => store.check());
    left.up();
  });
});

describe.runIf(serverPrograms !== undefined && engines.includes('postgres'))('a read-only server', () => {
  let cluster: Cluster;
  let clusterUrl: string;
  beforeAll(async () => {
    cluster = await Cluster.start();
    const { pathname } = new URL(databaseUrl);
    await onServer((client) => client.query(`create database "${pathname.slice(1)}"`), cluster.url);
    clusterUrl = Object.assign(new URL(cluster.url), { pathname }).href;
  });
  afterAll(() => cluster.remove());

  test('is no longer used, and is skipped at a start', async () => {
    const testStore = await TestStore.make('postgres');
    onTestFinished(() => testStore.remove());
    // Creates the tables on the second server.
    await testStore.open();
    const countKeys = async (url: string) => {
      const { rows } = await onServer(
        (client) => client.query(`select count(*)::int as count from ${testStore.options.schema}.tokens`),
        url,
      );
      return rows[0]?.count as number;
    };
    const addresses = joined(clusterUrl, databaseUrl);
    const store = await testStore.open({ databaseUrl: addresses });
    await makeToken(store, { remainQuota: 1 });
    expect([await countKeys(clusterUrl), await countKeys(databaseUrl)]).toEqual([1, 0]);

    await onServer(async (client) => {
      await client.query('alter system set default_transaction_read_only = on');
      await client.query('select pg_reload_conf()');
    }, cluster.url);
    // The first write on each connection fails.
    await vi.waitFor(async () => {
      await makeToken(store, { remainQuota: 1 });
      expect(await countKeys(databaseUrl)).toBeGreaterThan(0);
    });

    const before = await countKeys(databaseUrl);
    await makeToken(await testStore.open({ databaseUrl: addresses }), { remainQuota: 1 });
    expect(await countKeys(databaseUrl)).toBe(before + 1);
  });

  test('is left when its address leads to the primary again', async () => {
    const testStore = await TestStore.make('postgres');
    const proxy = await DatabaseProxy.start();
    onTestFinished(async () => {
      await testStore.remove();
      await proxy.close();
    });
    const store = await testStore.open({ databaseUrl: proxy.url });
    await store.check();
    await cluster.demote();
    proxy.down();
    proxy.redirect(clusterUrl);
    proxy.up();
    const unavailable = { status: 503, cause: expect.objectContaining({ code: '25006' }) };
    await vi.waitFor(() => expect(store.check()).rejects.toMatchObject(unavailable));
    proxy.redirect(databaseUrl);
    await vi.waitFor(() => store.check());
  });
});
