import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Ledger } from '../../server/quota/ledger.ts';
import { openStore } from '../../server/store/open-store.ts';
import type { Store } from '../../server/store/store.ts';
import {
  balanceOf,
  bookRows,
  expectBalanced,
  ledgerRows,
  logEntry,
  logRows,
  makeToken,
} from '../store/books.ts';
import { Cluster, serverPrograms } from '../store/cluster.ts';
import { DatabaseProxy } from '../store/database-proxy.ts';
import { onServer } from '../store/engines.ts';
import { Customers } from './customers.ts';
import { GatewayProcess } from './gateway-process.ts';
import { makeSite, type Site } from './site.ts';

const rounds = 20;
const wait = { timeout: 60_000, interval: 20 };

// Without the server's programs it cannot be run; where everything must be, it fails.
describe.skipIf(serverPrograms === undefined && process.env.CI !== 'true')('a gateway on postgres', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.start();
  }, 120_000);
  afterAll(() => cluster.remove());

  test('is not deceived by a server that crashed and counts its transactions anew', {
    timeout: 60_000,
  }, async () => {
    const proxy = await DatabaseProxy.start(cluster.url);
    const store = await openStore({ dataDir: '', databaseUrl: proxy.url });
    try {
      const token = await makeToken(store, { remainQuota: 100 });
      const request = { requestId: 'r1', model: 'm', unit: 'characters', amount: 10 } as const;
      await new Ledger(store, 'gateway_1').reserve({ ...request, token });
      const lost = proxy.cut('commit\0', 'before').then(() => proxy.down());
      const settled = store.run('settle', { requestId: 'r1', charged: 4, log: logEntry, now: 5 });
      await lost;
      await cluster.restart('immediate');
      // What was never written down is forgotten, so the same numbers come again, and these are committed.
      for (let count = 0; count < 20; count += 1)
        await onServer((client) => client.query('select pg_current_xact_id()'), cluster.url);
      proxy.up();
      expect(await settled).toEqual({ charged: 4, debt: 0 });
      expect(await bookRows(store)).toMatchObject([{ state: 'settled', charged: 4 }]);
      expect(await logRows(store)).toHaveLength(1);
      await expectBalanced(store, token);
    } finally {
      await store.close();
      await proxy.close();
    }
  });

  test('outlives broken connections and restarts of its database, and its books are exact after each', {
    timeout: 300_000,
  }, async () => {
    const site = await makeSite('postgres', cluster.url);
    const books = await openStore(site.options);
    const gateway = await GatewayProcess.start(site.options);
    const customers = new Customers(gateway.url, site.key);
    try {
      for (let round = 0; round < rounds; round += 1) {
        customers.start();
        await customers.more('done', 4);
        if (round % 2 === 0) await cluster.terminateBackends();
        else await cluster.restart(round % 4 === 1 ? 'fast' : 'immediate', () => customers.oneMore());
        await customers.more('done', 4);
        await customers.stop();
        // Tasks go on meanwhile, so one look may see what the next one would not.
        await vi.waitFor(() => expectExactBooks(books, site, customers), wait);
      }
      expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
      await expectTasksEnd(books, site);
      gateway.kill('SIGTERM');
      expect(await gateway.ended).toMatchObject({ code: 0 });
    } finally {
      gateway.kill();
      await customers.stop().catch(() => {});
      await books.close();
      await site.remove();
    }
  });
});

/** What was told as done is paid once, what was refused is not, and nothing is held for requests any more. */
async function expectExactBooks(books: Store, site: Site, { told }: Customers): Promise<void> {
  const rows = await bookRows(books);
  const open = await ledgerRows(books);
  expect(open.filter(({ kind, state }) => kind === 'request' && state === 'open')).toEqual([]);
  const states = new Map(rows.map((row) => [row.request_id, row.state]));
  const made = await books.read.selectFrom('tasks').select('request_id').execute();
  const tasks = new Set(made.map((row) => row.request_id));
  for (const { requestId, outcome } of told) {
    const state = states.get(requestId);
    if (outcome === 'refused') expect([undefined, 'refunded'], requestId).toContain(state);
    else if (!tasks.has(requestId)) expect(state, requestId).toBe('settled');
  }
  const closed = rows.filter(({ state }) => state !== 'open').map((row) => row.request_id);
  const logged = (await logRows(books)).map((row) => row.request_id);
  expect(logged.toSorted()).toEqual(closed.toSorted());
  await expectBalanced(books, site.token);
}

/** Every task that was made ends and is paid. */
async function expectTasksEnd(books: Store, site: Site): Promise<void> {
  const open = () => books.read.selectFrom('tasks').select('id').where('completed_at', 'is', null).execute();
  await vi.waitFor(async () => expect(await open()).toEqual([]), wait);
  const rows = await bookRows(books);
  expect(rows.filter(({ state }) => state === 'open')).toEqual([]);
  await expectBalanced(books, site.token);
  const charged = rows.reduce((sum, row) => sum + (row.charged ?? 0), 0);
  expect(await balanceOf(books, site.token)).toMatchObject({ used_quota: charged });
}
