import { describe, expect, test, vi } from 'vitest';
import { openStore, type Store } from '../../server/store/store.ts';
import { balanceOf, expectBalanced, ledgerRows, logRows } from '../store/books.ts';
import { Cluster, serverPrograms } from '../store/cluster.ts';
import { Customers } from './customers.ts';
import { GatewayProcess } from './gateway-process.ts';
import { makeSite, type Site } from './site.ts';

const rounds = 20;
const wait = { timeout: 60_000, interval: 20 };

// Without the server's programs it cannot be run; where everything must be, it fails.
describe.skipIf(serverPrograms === undefined && process.env.CI !== 'true')('a gateway on postgres', () => {
  test('outlives broken connections and restarts of its database, and its books are exact after each', {
    timeout: 300_000,
  }, async () => {
    const cluster = await Cluster.start();
    const site = await makeSite('postgres', cluster.url);
    const books = await openStore(site.options);
    const gateway = await GatewayProcess.start(site.options);
    const customers = new Customers(gateway.url, site.key);
    try {
      for (let round = 0; round < rounds; round += 1) {
        customers.start();
        await customers.more('done', 4);
        const untilRefused = () => customers.more('refused', 1);
        if (round % 2 === 0) await cluster.terminateBackends();
        else await cluster.restart(round % 4 === 1 ? 'fast' : 'immediate', untilRefused);
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
      await cluster.remove();
      await site.remove({ database: false });
    }
  });
});

/** What was told as done is paid once, what was refused is not, and nothing is held for requests any more. */
async function expectExactBooks(books: Store, site: Site, { told }: Customers): Promise<void> {
  const rows = await ledgerRows(books);
  expect(rows.filter(({ kind, state }) => kind === 'request' && state === 'open')).toEqual([]);
  const states = new Map(rows.map((row) => [row.request_id, row.state]));
  const tasks = new Set(rows.filter(({ kind }) => kind === 'task').map((row) => row.request_id));
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
  const rows = await ledgerRows(books);
  expect(rows.filter(({ state }) => state === 'open')).toEqual([]);
  await expectBalanced(books, site.token);
  const charged = rows.reduce((sum, row) => sum + (row.charged ?? 0), 0);
  expect(await balanceOf(books, site.token)).toMatchObject({ used_quota: charged });
}
