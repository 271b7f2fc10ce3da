import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Ledger } from '../../server/quota/ledger.ts';
import { standardLimits } from '../../server/settings/database.ts';
import { StoreUnavailable } from '../../server/store/availability.ts';
import { Commits } from '../../server/store/postgres/commits.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import { persist, type Store } from '../../server/store/store.ts';
import { DatabaseProxy } from './database-proxy.ts';
import { engines, onServer, TestStore } from './engines.ts';
import {
  balanceOf,
  expectBalanced,
  ledgerRows,
  logEntry,
  logRows,
  makeToken,
  reservationRows,
} from './ledger.ts';

/** As sent over the wire. Without its end, it would match other text. */
const wire = (statement: string) => (statement === 'commit' ? 'commit\0' : statement);

describe.runIf(engines.includes('postgres'))('a PostgreSQL store whose connections break', () => {
  let testStore: TestStore;
  let proxy: DatabaseProxy;
  let store: Store;
  let token: TokenRecord;
  const told: boolean[] = [];

  beforeEach(async () => {
    testStore = await TestStore.make('postgres');
    proxy = await DatabaseProxy.start();
    told.length = 0;
    store = await testStore.open({ databaseUrl: proxy.url, onAvailability: (away) => told.push(away) });
    token = await makeToken(store, { remainQuota: 100 });
    await new Ledger(store, 'gateway_1').reserve({ ...request, token, amount: 10 });
  });
  afterEach(async () => {
    proxy.up();
    await testStore.remove();
    await proxy.close();
  });

  const request = { requestId: 'r1', model: 'm', unit: 'characters' as const };
  const settlement = { requestId: 'r1', charged: 4, log: logEntry, now: 5 };
  const impatient = () =>
    testStore.open({
      databaseUrl: proxy.url,
      postgres: { ...standardLimits, connections: 2, connectTimeoutMs: 300, statementTimeoutMs: 300 },
    });
  const lockToken = () => `begin; update ${testStore.options.schema}.tokens set name = name`;

  async function expectSettledOnce(): Promise<void> {
    expect(await reservationRows(store)).toMatchObject([{ state: 'settled', charged: 4 }]);
    expect(await logRows(store)).toHaveLength(1);
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 96, used_quota: 4 });
    await expectBalanced(store, token);
  }

  test.each(['begin isolation', 'insert into request_log', 'update tokens', 'commit'])(
    'runs a command once that was interrupted before its %s arrived',
    async (statement) => {
      const cut = proxy.cut(wire(statement), 'before');
      expect(await store.run('settle', settlement)).toEqual({ charged: 4, debt: 0 });
      await cut;
      await expectSettledOnce();
      expect(told).toEqual([]);
    },
  );

  test.each(['insert into request_log', 'commit'])(
    'runs a command once whose %s was done and not acknowledged',
    async (statement) => {
      const cut = proxy.cut(wire(statement), 'after');
      expect(await store.run('settle', settlement)).toEqual({ charged: 4, debt: 0 });
      await cut;
      await expectSettledOnce();
    },
  );

  test('knows the outcome of a commit as soon as the database is back', async () => {
    const cut = proxy.cut(wire('commit'), 'after').then(() => proxy.down());
    const settled = store.run('settle', settlement);
    await cut;
    await vi.waitFor(() => expect(told).toEqual([true]));
    proxy.up();
    expect(await settled).toEqual({ charged: 4, debt: 0 });
    await expectSettledOnce();
    expect(told).toEqual([true, false]);
  });

  test.each([
    ['commit', true],
    ['rollback', false],
  ])('waits for a transaction that is still under way to %s', async (end, made) => {
    const commits = new Commits();
    const planned = commits.next();
    await onServer(async (client) => {
      await client.query(`set search_path to ${testStore.options.schema}; begin`);
      await client.query(planned.note.sql, [...planned.note.parameters]);
      const answer = commits.isCommitted(store.read, planned);
      const waits =
        "select 1 from pg_stat_activity where query like '%insert into commits%' and wait_event_type = 'Lock'";
      // Over another connection, because a transaction sees the activity at its first query.
      await onServer((other) =>
        vi.waitFor(async () => expect((await other.query(waits)).rowCount).toBeGreaterThan(0), {
          timeout: 15_000,
        }),
      );
      await client.query(end);
      expect(await answer).toBe(made);
    });
  });

  test('repeats a query after a broken connection', async () => {
    for (const when of ['before', 'after'] as const) {
      const cut = proxy.cut('select', when);
      expect(await ledgerRows(store)).toHaveLength(1);
      await cut;
    }
  });

  test('repeats a query and a command after all connections broke', async () => {
    const sleep = () => sql`select pg_sleep(0.1)`.execute(store.read);
    for (const repeat of [() => ledgerRows(store), () => store.run('settle', settlement)]) {
      await Promise.all(Array.from({ length: standardLimits.connections }, sleep));
      proxy.down();
      proxy.up();
      await repeat();
    }
    await expectSettledOnce();
  });

  test('refuses while the database is unavailable, and runs required writes when it is back', async () => {
    proxy.down();
    await expect(store.run('settle', settlement)).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(ledgerRows(store)).rejects.toMatchObject({ status: 503, retryAfter: 1 });
    await expect(store.check()).rejects.toBeInstanceOf(StoreUnavailable);
    const ledger = new Ledger(store, 'gateway_1');
    const settled = ledger.settle({ requestId: 'r1', charged: 4, log: logEntry });
    proxy.up();
    expect(await settled).toBeDefined();
    await expectSettledOnce();
    await store.check();
  });

  test('does not let a refund wait for an unavailable database', async () => {
    proxy.down();
    expect(await new Ledger(store, 'gateway_1').refund({ requestId: 'r1', log: logEntry })).toBe(true);
    proxy.up();
    await vi.waitFor(async () => expect(await logRows(store)).toMatchObject([{ reserved: 10, quota: 0 }]));
    expect(await ledgerRows(store)).toEqual([]);
    await expectBalanced(store, token);
  });

  test('rejects waiting calls when it is closed', async () => {
    proxy.down();
    const settled = persist(store, 'settle', settlement);
    await vi.waitFor(() => expect(told).toEqual([true]));
    const [refused] = await Promise.allSettled([settled, store.close()]);
    expect(refused.status).toBe('rejected');
  });

  test('refuses a slow statement, and continues', async () => {
    store = await impatient();
    await onServer(async (rival) => {
      await rival.query(lockToken());
      await expect(store.run('settle', settlement)).rejects.toBeInstanceOf(StoreUnavailable);
      await rival.query('rollback');
    });
    expect(await persist(store, 'settle', settlement)).toEqual({ charged: 4, debt: 0 });
    await expectSettledOnce();
  });

  test('is probed over a separate connection', async () => {
    store = await impatient();
    await onServer(async (rival) => {
      await rival.query(lockToken());
      const settle = () => store.run('settle', settlement);
      const [checked, ...settled] = await Promise.allSettled([store.check(), settle(), settle()]);
      expect(checked.status).toBe('fulfilled');
      for (const refused of settled) expect(refused).toMatchObject({ reason: { code: 'store_unavailable' } });
      await rival.query('rollback');
    });
  });

  test('gives up on a silent server, and reconnects later', async () => {
    store = await impatient();
    proxy.silence();
    const [settled, checked] = await Promise.allSettled([store.run('settle', settlement), store.check()]);
    for (const refused of [settled, checked])
      expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'store_unavailable' } });
    proxy.up();
    expect(await persist(store, 'settle', settlement)).toEqual({ charged: 4, debt: 0 });
    await expectSettledOnce();
  });

  test('sets its time limits on the server, too', async () => {
    store = await impatient();
    const { rows } = await sql<{ name: string; setting: string }>`
      select name, setting from pg_settings
      where name in ('statement_timeout', 'idle_in_transaction_session_timeout') order by name`.execute(
      store.read,
    );
    expect(rows.map(({ setting }) => setting)).toEqual(['15000', '300']);
  });
});
