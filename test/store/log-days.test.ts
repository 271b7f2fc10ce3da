import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Ledger } from '../../server/quota/ledger.ts';
import { LogDays, Retention, RollUp } from '../../server/quota/maintenance.ts';
import type { BookedCall } from '../../server/store/commands/booked-calls.ts';
import { dayMs, dayOf, dayOfPartition, partitionOf, readLogDays } from '../../server/store/log-days.ts';
import { auditLedger } from '../../server/store/queries/audit.ts';
import { showFigures } from '../../server/store/queries/figures.ts';
import { exportPage } from '../../server/store/queries/log-export.ts';
import { searchLog } from '../../server/store/queries/log-search.ts';
import { searchTasks } from '../../server/store/queries/task-search.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import { readSnapshot } from '../../server/store/read-snapshot.ts';
import type { Database } from '../../server/store/schema.ts';
import type { Store } from '../../server/store/store.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { endTask, newTaskRow } from '../quota/task-rows.ts';
import { ManualTimers } from '../support/manual-timers.ts';
import { databaseUrl, engines, onServer, TestStore } from './engines.ts';
import { logEntry, logRows, makeToken } from './ledger.ts';
import { runStatement } from './raw-rows.ts';

/** Noon of a day. */
const start = Date.UTC(2026, 10, 18, 12);
const today = dayOf(start);
const logger = createLogger('silent');

test('a partition is named by its date', () => {
  expect(partitionOf(today)).toBe('request_log_20261118');
  expect(dayOfPartition('request_log_20261118')).toBe(today);
  expect(['request_log_other', 'request_log'].map(dayOfPartition)).toEqual([undefined, undefined]);
});

test('no query names days if the log has no partitions', async () => {
  for (const [engine, asked] of [
    ['sqlite', 0],
    ['postgres', 1],
  ] as const) {
    const run = vi.fn(async () => 0);
    const timers = new ManualTimers();
    const store = { engine, run } as unknown as Store;
    const days = new LogDays({ store, logger, clock: () => start, timers });
    await days.start();
    expect([engine, run.mock.calls.length, timers.pending]).toEqual([engine, asked, asked]);
    await days.stop();
  }
});

describe.runIf(engines.includes('postgres'))('the log by day on PostgreSQL', () => {
  let testStore: TestStore;
  let store: Store;
  let token: TokenRecord;
  let now: number;
  beforeEach(async () => {
    now = start;
    testStore = await TestStore.make('postgres');
    store = await testStore.open();
    await store.run('recordHeartbeat', { id: 'here', heartbeat: 0 });
    token = await makeToken(store, { unlimitedQuota: true });
  });
  afterEach(() => testStore.remove());

  const logDays = (of = store) =>
    new LogDays({ store: of, logger, clock: () => now, timers: new ManualTimers() });
  const call = (requestId: string, charged: number, endedAt = now): BookedCall => ({
    requestId,
    tokenId: token.id,
    userId: token.userId,
    model: 'm',
    unit: 'characters',
    lease: null,
    held: 10,
    charged,
    returned: 0,
    endedAt,
    log: logEntry,
  });
  const book = (...calls: BookedCall[]) => store.run('settleCalls', { calls });
  const settle = async (requestId: string, charged: number) => {
    const ledger = new Ledger(store, 'here', () => now);
    await ledger.reserve({ requestId, token, model: 'm', unit: 'characters', amount: 10 });
    await ledger.settle({ requestId, charged, log: logEntry });
  };
  const onSchema = <T>(use: (client: pg.Client) => Promise<T>) =>
    onServer(async (client) => {
      await client.query(`set search_path = ${testStore.options.schema}`);
      return use(client);
    });
  /** Partitions of the entries. */
  const places = async () => {
    const { rows } = await onSchema((client) =>
      client.query('select request_id, tableoid::regclass::text as name from request_log order by id'),
    );
    return Object.fromEntries(rows.map(({ request_id: id, name }) => [id, name]));
  };
  const problems = async () => (await readSnapshot(testStore.options, auditLedger)).problems;
  const sweep = (keepDays: number) => {
    const timers = new ManualTimers();
    timers.now = now;
    return new Retention({ store, logger, clock: () => now, timers, keepMs: keepDays * dayMs }).run();
  };
  /** Waits until a session waits for a lock in this schema. */
  const someoneWaits = () =>
    vi.waitFor(
      async () => {
        const { rows } = await onSchema((client) =>
          client.query(`select 1 from pg_locks l join pg_class c on c.oid = l.relation
            where not l.granted and c.relnamespace = current_schema()::regnamespace`),
        );
        expect(rows).not.toEqual([]);
      },
      { timeout: 15_000, interval: 20 },
    );

  test('has partitions from yesterday to a week ahead, created by several gateways at once, each once', async () => {
    const other = await testStore.open();
    await vi.waitFor(async () => {
      await Promise.all([logDays().run(), logDays(other).run()]);
      expect(await readLogDays(store.read)).toEqual(
        Array.from({ length: 9 }, (_, index) => today - 1 + index),
      );
    }, 15_000);
    expect(await store.run('addLogDays', { first: today, last: today + 7 })).toBe(0);
    now += dayMs;
    await logDays().run();
    expect((await readLogDays(store.read)).at(-1)).toBe(today + 8);
  });

  test('stores each entry in the partition of its day, and accepts entries of any day', async () => {
    await logDays().run();
    await book(call('today', 3), call('yesterday', 2, now - dayMs), call('long ago', 1, now - 400 * dayMs));
    await settle('with a reservation', 4);
    now += 30 * dayMs;
    await settle('in a month', 5);
    expect(await places()).toEqual({
      today: partitionOf(today),
      yesterday: partitionOf(today - 1),
      'long ago': 'request_log_other',
      'with a reservation': partitionOf(today),
      'in a month': 'request_log_other',
    });
    expect(await problems()).toEqual([]);
    // The day gets its partition, which receives the entries stored elsewhere.
    await logDays().run();
    expect(await places()).toMatchObject({
      'long ago': 'request_log_other',
      'in a month': partitionOf(today + 30),
    });
    expect(await problems()).toEqual([]);
  });

  test('records a call once, however often it is repeated, whatever the clock shows', async () => {
    await logDays().run();
    const calls = [call('one', 3), call('two', 4, now - dayMs), call('far', 1, now + 300 * dayMs)];
    expect((await book(...calls)).settlements.map((one) => one?.charged ?? null)).toEqual([3, 4, 1]);
    now += 300 * dayMs;
    await logDays().run();
    expect((await book(...calls, call('three', 5))).settlements.map((one) => one?.charged ?? null)).toEqual([
      null,
      null,
      null,
      5,
    ]);
    expect(await logRows(store)).toHaveLength(4);
    expect(await places()).toMatchObject({ far: partitionOf(today + 300) });
    // The database also refuses a duplicate from a gateway that did not check.
    for (const id of ['one', 'far'])
      await expect(
        runStatement(
          testStore,
          `insert into request_log select (r).* from (select r from request_log r where request_id = '${id}') as s`,
        ),
      ).rejects.toThrow(/unique/);
    expect(await problems()).toEqual([]);
  });

  test('is searched by time in the partitions of these days only, and by id through indexes', async () => {
    await logDays().run();
    await book(...Array.from({ length: 9 }, (_, index) => call(`r${index}`, 1, now + (index - 1) * dayMs)));
    const queries: { sql: string; parameters: readonly unknown[] }[] = [];
    const pool = new pg.Pool({
      connectionString: databaseUrl,
      options: `-c search_path=${testStore.options.schema}`,
    });
    const db = new Kysely<Database>({
      dialect: new PostgresDialect({ pool }),
      log: ({ query }) => {
        queries.push(query);
      },
    });
    /** The query plans, and the partitions in them. */
    const explain = async (ask: () => Promise<unknown>) => {
      queries.length = 0;
      await ask();
      const plans = await Promise.all(
        queries.map(async ({ sql: text, parameters }) => {
          const { rows } = await pool.query(`explain ${text}`, [...parameters]);
          return rows.map((row) => Object.values(row)[0]).join('\n');
        }),
      );
      const plan = plans.join('\n');
      const partsIn = (text = '') => [...new Set(text.match(/request_log_(other|\d{8})(?!_)\b/g))].toSorted();
      return { plan, parts: partsIn(plan), lastParts: partsIn(plans.at(-1)) };
    };
    const [since, until] = [today * 86_400, (today + 2) * 86_400];
    const asked = [partitionOf(today), partitionOf(today + 1)];
    const exported = await explain(() =>
      exportPage(db, { after: 0, upTo: 1_000, format: 'csv', filter: { since, until } }),
    );
    expect(exported.parts).toEqual(asked);
    const figures = await explain(() => showFigures(db, { by: ['hour'], since, until }));
    // The statement before only reads the last id of each partition.
    expect(figures.lastParts).toEqual(asked);
    const page = await explain(() =>
      searchLog(db, { userId: token.userId, keyword: '', offset: 0, limit: 5 }),
    );
    // All of them are in one bucket. The partitions of other days are not read.
    expect(page.parts).toEqual(Array.from({ length: 9 }, (_, index) => partitionOf(today - 1 + index)));
    const other = await makeToken(store, { unlimitedQuota: true });
    await book({ ...call('other', 1), tokenId: other.id, userId: other.userId });
    const own = await explain(() =>
      searchLog(db, { userId: other.userId, keyword: '', offset: 0, limit: 5 }),
    );
    expect(own.parts).toEqual([partitionOf(today)]);
    const named = await explain(() =>
      searchLog(db, { userId: other.userId, keyword: 'a key', offset: 0, limit: 5 }),
    );
    expect(named.parts).toEqual([partitionOf(today)]);
    // Only the tasks that ended today and in five days.
    for (const [requestId, at] of [
      ['task 1', now],
      ['task 2', now + 5 * dayMs],
    ] as const) {
      await store.run('createTask', newTaskRow(token, { requestId, amount: 1 }));
      await endTask(store, `task of ${requestId}`, 1, at);
    }
    const tasks = await explain(() => searchTasks(db, { offset: 0, limit: 5 }));
    expect(tasks.parts).toEqual([partitionOf(today), partitionOf(today + 5)]);
    await pool.query('set enable_seqscan = off');
    const byId = await explain(() =>
      searchLog(db, { userId: token.userId, keyword: 'req_019a00000000', offset: 0, limit: 20 }),
    );
    expect(byId.plan).toContain('request_log_20261118_request_id_idx');
    expect(byId.parts).toHaveLength(10);
    await db.destroy();
  });

  test('drops whole old days, keeps their sums, and leaves counted entries unchanged', async () => {
    await logDays().run();
    await book(call('old', 3), call('failed', 0), call('young', 4, now + dayMs));
    await settle('reserved', 5);
    const figures = () => store.report('showFigures', { by: [], since: 0, until: (today + 90) * 86_400 });
    const before = await figures();
    now = (today + 31) * dayMs - 1;
    expect(await sweep(30)).toBe(0);
    expect(Object.keys(await places())).toEqual(['old', 'failed', 'young', 'reserved']);
    expect(await problems()).toEqual([]);
    now += 1;
    expect(await sweep(30)).toBe(3);
    expect(await places()).toEqual({ young: partitionOf(today + 1) });
    expect((await readLogDays(store.read))[0]).toBe(today + 1);
    expect(await problems()).toEqual([]);
    expect(await figures()).toEqual(before);
    const search = { userId: token.userId, keyword: '', offset: 0, limit: 9 };
    expect(await store.report('searchLog', search)).toMatchObject({ total: 1 });
    await vi.waitFor(async () => {
      await new RollUp({ store, logger, timers: new ManualTimers() }).run();
      expect(await figures()).toEqual(before);
    });
    // Late entries of such a day are stored as long, and deleted separately.
    await book(call('late', 2, start));
    expect(await places()).toMatchObject({ late: 'request_log_other' });
    expect(await sweep(30)).toBe(1);
    expect(await problems()).toEqual([]);
    await expect(store.run('dropLogDay', { day: today + 1, closedBefore: now - 30 * dayMs })).rejects.toThrow(
      RangeError,
    );
  });

  test('is written while a day to be dropped is being read', { timeout: 30_000 }, async () => {
    await logDays().run();
    await book(call('old', 3));
    now += 31 * dayMs;
    await onSchema(async (reader) => {
      await reader.query('begin; select count(*) from request_log');
      const dropped = store.run('dropLogDay', { day: today, closedBefore: now - 30 * dayMs });
      await someoneWaits();
      expect((await book(call('young', 4))).settlements.map((one) => one?.charged ?? null)).toEqual([4]);
      await reader.query('commit');
      expect(await dropped).toBe(1);
    });
    expect(await places()).toEqual({ young: 'request_log_other' });
    expect(await problems()).toEqual([]);
  });

  test('gets its partitions later if a long query reads it', { timeout: 30_000 }, async () => {
    await book(call('early', 3));
    await onSchema(async (reader) => {
      await reader.query('begin; select count(*) from request_log');
      expect(await store.run('addLogDays', { first: today, last: today })).toBe('busy');
      await reader.query('commit');
    });
    expect(await store.run('addLogDays', { first: today, last: today })).toBe(1);
    expect(await places()).toEqual({ early: partitionOf(today) });
    expect(await problems()).toEqual([]);
  });

  test('leaves very many entries of a day where they are, because moving them would block all calls', async () => {
    const series = 'generate_series(1, 10001) as i';
    await runStatement(
      testStore,
      `insert into request_log (request_id, user_id, token_id, token_name, model_name, operation, channel, status, unit, units,
        prompt_tokens, completion_tokens, quota, duration_ms, created_at, reserved, unlimited, debt, state, unit_price, group_ratio, group_name,
        config_revision, day)
        select 'r' || i, 1, ${token.id}, '', 'm', 'o', 'c', 200, 'u', 1, 0, 0, 0, 1, ${today * 86_400}, 0, 1, 0, 'completed', 1, 1,
        'default', 'revision', ${today} from ${series}`,
    );
    expect(await store.run('addLogDays', { first: today, last: today + 1 })).toBe(1);
    expect(await readLogDays(store.read)).toEqual([today + 1]);
    expect(new Set(Object.values(await places()))).toEqual(new Set(['request_log_other']));
    expect(await problems()).toEqual([]);
  });
});
