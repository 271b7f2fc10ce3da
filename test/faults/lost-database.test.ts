import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Ledger } from '../../server/quota/ledger.ts';
import { openStore } from '../../server/store/open-store.ts';
import type { Store } from '../../server/store/store.ts';
import { Cluster, serverPrograms } from '../store/cluster.ts';
import { DatabaseProxy } from '../store/database-proxy.ts';
import { onServer } from '../store/engines.ts';
import {
  balanceOf,
  expectBalanced,
  ledgerRows,
  logEntry,
  logRows,
  makeToken,
  reservationRows,
} from '../store/ledger.ts';
import { ClientLoad } from './client-load.ts';
import { createDeployment, type Deployment } from './deployment.ts';
import { GatewayProcess } from './gateway-process.ts';

const rounds = 20;
const wait = { timeout: 60_000, interval: 20 };

// Skipped without the PostgreSQL programs, except in CI.
describe.skipIf(serverPrograms === undefined && process.env.CI !== 'true')('a gateway on postgres', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.start();
  }, 120_000);
  afterAll(() => cluster.remove());

  test('detects an uncommitted transaction after a crash of the server that reuses its transaction id', {
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
      // The crash lost the unwritten transaction ids. The server assigns them again, to transactions that commit.
      for (let count = 0; count < 20; count += 1)
        await onServer((client) => client.query('select pg_current_xact_id()'), cluster.url);
      proxy.up();
      expect(await settled).toEqual({ charged: 4, debt: 0 });
      expect(await reservationRows(store)).toMatchObject([{ state: 'settled', charged: 4 }]);
      expect(await logRows(store)).toHaveLength(1);
      await expectBalanced(store, token);
    } finally {
      await store.close();
      await proxy.close();
    }
  });

  test('survives broken connections and restarts of its database, and its ledger is exact after each', {
    timeout: 300_000,
  }, async () => {
    const deployment = await createDeployment('postgres', { server: cluster.url });
    const store = await openStore(deployment.options);
    const gateway = await GatewayProcess.start({
      ...deployment.options,
      environment: { LOG_LEVEL: 'error' },
    });
    const clients = new ClientLoad(gateway.url, deployment.key);
    try {
      for (let round = 0; round < rounds; round += 1) {
        clients.start();
        await clients.waitForMore('done', 4);
        if (round % 2 === 0) await cluster.terminateBackends();
        else await cluster.restart(round % 4 === 1 ? 'fast' : 'immediate', () => clients.sendUntilRejected());
        await clients.waitForMore('done', 4);
        await clients.stop();
        // Tasks still run, so a single check can see an intermediate state.
        await vi.waitFor(() => expectExactLedger(store, deployment, clients), wait);
      }
      expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
      await expectTasksEnd(store, deployment);
      gateway.kill('SIGTERM');
      expect(await gateway.ended).toMatchObject({ code: 0 });
    } catch (error) {
      // The response to a client does not name the cause.
      throw new Error(`the gateway logged ${gateway.output.stderr.slice(-20_000)}`, { cause: error });
    } finally {
      gateway.kill();
      await clients.stop().catch(() => {});
      await store.close();
      await deployment.remove();
    }
  });
});

/** Checks that completed requests are settled once, refused ones are not, and no request holds a reservation. */
async function expectExactLedger(
  store: Store,
  deployment: Deployment,
  { reported }: ClientLoad,
): Promise<void> {
  const rows = await reservationRows(store);
  const open = await ledgerRows(store);
  expect(open.filter(({ kind, state }) => kind === 'request' && state === 'open')).toEqual([]);
  const states = new Map(rows.map((row) => [row.request_id, row.state]));
  const taskRows = await store.read.selectFrom('tasks').select('request_id').execute();
  const tasks = new Set(taskRows.map((row) => row.request_id));
  for (const { requestId, outcome } of reported) {
    const state = states.get(requestId);
    if (outcome === 'refused') expect([undefined, 'refunded'], requestId).toContain(state);
    else if (!tasks.has(requestId)) expect(state, requestId).toBe('settled');
  }
  const closed = rows.filter(({ state }) => state !== 'open').map((row) => row.request_id);
  const logged = (await logRows(store)).map((row) => row.request_id);
  expect(logged.toSorted()).toEqual(closed.toSorted());
  await expectBalanced(store, deployment.token);
}

/** Checks that every task ends and is settled. */
async function expectTasksEnd(store: Store, deployment: Deployment): Promise<void> {
  const open = () => store.read.selectFrom('tasks').select('id').where('completed_at', 'is', null).execute();
  await vi.waitFor(async () => expect(await open()).toEqual([]), wait);
  const rows = await reservationRows(store);
  expect(rows.filter(({ state }) => state === 'open')).toEqual([]);
  await expectBalanced(store, deployment.token);
  const charged = rows.reduce((sum, row) => sum + (row.charged ?? 0), 0);
  expect(await balanceOf(store, deployment.token)).toMatchObject({ used_quota: charged });
}
