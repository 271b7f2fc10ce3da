import { DatabaseSync } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { yieldToEventLoop } from '../../server/lib/timers.ts';
import type { Ledger } from '../../server/quota/ledger.ts';
import { Retention } from '../../server/quota/retention.ts';
import { migrations } from '../../server/store/migrations/all.ts';
import { migrationContext } from '../../server/store/migrations/migration.ts';
import { readBooks } from '../../server/store/open-books.ts';
import { auditBooks } from '../../server/store/queries/audit.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Database } from '../../server/store/schema.ts';
import { nodeSqliteDialect } from '../../server/store/sqlite/dialect.ts';
import type { Store } from '../../server/store/store.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { ManualTimers } from '../support/manual-timers.ts';
import { balanceOf, ledgerRows, logEntry, logRows, makeToken } from './books.ts';
import { closeAsBefore } from './books-before.ts';
import { booksOfEachTest } from './books-of-each-test.ts';
import { engines, type TestStore } from './engines.ts';
import { runStatement } from './raw-rows.ts';

const day = 86_400_000;
const start = 1_795_000_000_000;

describe.each(engines)('the books on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  let now: number;
  let ledger: Ledger;
  booksOfEachTest(
    engine,
    () => now,
    (books) => {
      now = start;
      ({ testStore, store, ledger } = books);
    },
  );

  const audit = () => readBooks(testStore.options, auditBooks);
  const hold = (token: TokenRecord, requestId: string, amount = 10) =>
    ledger.reserve({ requestId, token, model: 'm', unit: 'characters', amount });
  const spend = async (token: TokenRecord, requestId: string, charged: number) => {
    await hold(token, requestId);
    await ledger.settle({ requestId, charged, log: logEntry });
  };
  /** As a gateway of the version before does. */
  const spendBefore = async (token: TokenRecord, requestId: string, charged: number | null) => {
    await hold(token, requestId);
    await closeAsBefore(testStore, { requestId, charged, at: now });
  };
  const makeFrom = async (maker: TokenRecord, remainQuota: number) => {
    const { id: makerId, userId } = maker;
    const token = {
      userId,
      name: 'made',
      keyHash: crypto.randomUUID(),
      keyHint: '',
      makerId,
      remainQuota,
      now,
    };
    const made = await store.run('makeToken', { token, fromMaker: !maker.unlimitedQuota });
    if (typeof made === 'string') throw new Error(made);
    return made;
  };

  /** Something of everything: two keys, limited and not, one made from the other and deleted, all kinds of ends. */
  async function live() {
    const limited = await makeToken(store, { remainQuota: 1_000 });
    const unlimited = await makeToken(store, { unlimitedQuota: true });
    const made = await makeFrom(limited, 300);
    const given = await makeFrom(unlimited, 50);
    for (const [index, token] of [limited, unlimited, made, given].entries()) {
      await spend(token, `settled ${index}`, 4);
      await spend(token, `dear ${index}`, 10);
      await hold(token, `refunded ${index}`);
      await ledger.refund({ requestId: `refunded ${index}`, log: logEntry });
      await hold(token, `silent ${index}`);
      await ledger.refund({ requestId: `silent ${index}` });
      await hold(token, `open ${index}`);
      await spendBefore(token, `before ${index}`, 3);
      await spendBefore(token, `returned ${index}`, null);
    }
    await store.run('deleteToken', { id: made.id, userId: made.userId, by: null, now });
    return { limited, unlimited, made, given };
  }

  test('are audited beside all else in a gateway, and time and again', async () => {
    const { limited } = await live();
    const audits = Array.from({ length: 3 }, async (_, index) => {
      await spend(limited, `during ${index}`, index);
      return store.report('auditBooks', null);
    });
    for (const { problems } of await Promise.all(audits)) expect(problems).toEqual([]);
    expect(await store.report('auditBooks', null)).toEqual(await audit());
    await runStatement(testStore, `update tokens set used_quota = 0 where id = ${limited.id}`);
    expect((await store.report('auditBooks', null)).problems).toHaveLength(1);
  });

  test('add up', async () => {
    await live();
    expect(await audit()).toEqual({
      keys: 4,
      open: 4,
      closed: 20,
      granted: 1_050,
      held: 30,
      leased: 0,
      spent: 51,
      refunded: 0,
      left: 969,
      debt: 0,
      debtors: [],
      problems: [],
      more: false,
    });
  });

  test('add up at every moment while all is going on', async () => {
    const { limited } = await live();
    let running = true;
    const audits = (async () => {
      while (running) {
        expect((await audit()).problems).toEqual([]);
        // On SQLite an audit takes no turn of the event loop.
        await yieldToEventLoop();
      }
    })();
    await Promise.all(Array.from({ length: 25 }, (_, index) => spend(limited, `more ${index}`, index % 10)));
    running = false;
    await audits;
    expect((await audit()).problems).toEqual([]);
  });

  test.each([
    [
      'update tokens set remain_quota = remain_quota - 1 where name =',
      'key',
      /has \d+ left, which should be \d+/,
    ],
    ['update tokens set used_quota = used_quota + 1 where name =', 'key', /has used 18, which should be 17/],
    ['update grants set amount = amount + 1 where token_id =', 'key', /which should be/],
  ])('that were changed by hand do not: %s', async (statement, subject, words) => {
    const { limited } = await live();
    const where = statement.endsWith('name =')
      ? `${statement.replace('name =', 'id =')} ${limited.id}`
      : `${statement} ${limited.id}`;
    await runStatement(testStore, where);
    const { problems } = await audit();
    expect(problems[0]).toEqual({
      subject: `${subject} ${limited.id}`,
      problem: expect.stringMatching(words),
    });
  });

  test.each([
    [
      "update ledger set charged = 5 where request_id = 'before 0'",
      'request before 0',
      'charged 5, and the log has 3',
    ],
    ["update ledger set charged = 11 where request_id = 'before 0'", 'request before 0', 'charged 11'],
    [
      "update ledger set closed_at = 1 where request_id = 'open 0'",
      'request open 0',
      'a reservation that is open',
    ],
    ["delete from request_log where request_id = 'before 1'", 'request before 1', 'the log has no entry'],
    ["delete from ledger where request_id = 'before 1'", 'request before 1', 'it was not charged'],
    [
      "update request_log set quota = 3 where request_id = 'returned 1'",
      'request returned 1',
      'the log says 3',
    ],
    ["update ledger set token_id = 999 where request_id = 'open 1'", 'request open 1', 'which there is not'],
    ["delete from request_log where request_id = 'settled 0'", 'key ', 'has used 17, which should be 13'],
    ["update request_log set quota = 3 where request_id = 'refunded 0'", 'key ', 'which should be 20'],
    [
      "update request_log set quota = -1 where request_id = 'settled 1'",
      'request settled 1',
      'with held 10, quota -1',
    ],
    // A key without a limit has no debts.
    ["update request_log set debt = 2 where request_id = 'settled 1'", 'request settled 1', 'debt 2'],
    ["update request_log set debt = -2 where request_id = 'settled 0'", 'request settled 0', 'debt -2'],
    [
      "update request_log set debt = 2 where request_id = 'settled 0'",
      'key ',
      'a debt of 0, which should be 2',
    ],
    ['update tokens set debt = 2 where unlimited_quota = 0', 'key ', 'a debt of 2, which should be 0'],
    ['update tokens set debt = -2 where unlimited_quota = 0', 'key ', 'a debt below zero: -2'],
    ['update grants set debt_settled = 2', 'key ', 'debts settled 2'],
    [
      "update request_log set token_id = 999 where request_id = 'settled 1'",
      'request settled 1',
      'which there is not',
    ],
    [
      "update ledger set request_id = 'settled 1' where request_id = 'open 1'",
      'request settled 1',
      'and a reservation beside it',
    ],
    [
      "update ledger set kind = 'task' where request_id = 'open 1'",
      'request open 1',
      'for a task that is over',
    ],
    ['update log_counts set entries = entries + 1', 'key ', 'entries of it and'],
    ["update grants set amount = amount + 1 where kind = 'moved' and amount > 0", 'key ', 'what it moved'],
  ])('name what does not add up: %s', async (statement, subject, words) => {
    await live();
    await runStatement(testStore, statement);
    const { problems } = await audit();
    const told = problems.filter((one) => one.subject.startsWith(subject));
    expect(told.map(({ problem }) => problem).join('\n')).toContain(words);
  });

  describe('that are older than they are kept', () => {
    const sweep = (keepMs: number) => {
      const timers = new ManualTimers();
      timers.now = now;
      const parts = { store, logger: createLogger('silent'), clock: () => now, timers, keepMs };
      return new Retention(parts).run();
    };

    test('are swept with their log, and balances stay what they are', async () => {
      const { limited, unlimited } = await live();
      const balances = () => Promise.all([limited, unlimited].map((token) => balanceOf(store, token)));
      const before = await audit();
      const left = await balances();
      now += 90 * day;
      await spend(limited, 'fresh', 1);
      await ledger.refund({ requestId: 'open 3' });
      expect(await sweep(90 * day)).toBe(0);
      now += 1_000;
      expect(await sweep(90 * day)).toBe(20);
      expect((await ledgerRows(store)).map((row) => row.request_id)).toEqual(['open 0', 'open 1', 'open 2']);
      expect((await logRows(store)).map((row) => row.request_id)).toEqual(['fresh']);
      const after = await audit();
      expect(after).toMatchObject({
        problems: [],
        open: 3,
        closed: 1,
        granted: 1_050,
        spent: before.spent + 1,
      });
      expect((await balances())[1]).toEqual(left[1]);
      expect(
        await store.report('searchLog', { userId: limited.userId, keyword: '', offset: 0, limit: 9 }),
      ).toMatchObject({
        total: 1,
      });
      // Work that was open all the time still ends as it should.
      await ledger.settle({ requestId: 'open 0', charged: 7, log: logEntry });
      now += 91 * day;
      expect(await sweep(90 * day)).toBe(2);
      expect(await audit()).toMatchObject({ problems: [], open: 2, closed: 0, spent: before.spent + 8 });
    });

    test.each([
      ['sweepLog', spend],
      ['sweepBooks', spendBefore],
    ] as const)('are swept batch by batch by %s, by several at once, and each once', async (name, pay) => {
      const token = await makeToken(store, { remainQuota: 10_000 });
      for (let index = 0; index < 30; index += 1) await pay(token, `r${index}`, 2);
      const args = { closedBefore: now + 1_000, limit: 4 };
      const all = await Promise.all(Array.from({ length: 6 }, () => store.run(name, args)));
      expect(Math.max(...all)).toBeLessThanOrEqual(4);
      let swept = all.reduce((sum, one) => sum + one, 0);
      for (let gone = 1; gone > 0; swept += gone) gone = await store.run(name, args);
      expect(swept).toBe(30);
      expect(await audit()).toMatchObject({ problems: [], closed: 0, spent: 60, left: 9_940 });
      // Nothing of it can be charged or given back any more.
      expect(await ledger.settle({ requestId: 'r1', charged: 2, log: logEntry })).toBeUndefined();
      expect(await ledger.refund({ requestId: 'r1', log: logEntry })).toBe(false);
    });

    test('are not swept by a calendar that has been set forward', async () => {
      const token = await makeToken(store, { remainQuota: 100 });
      await spend(token, 'r1', 2);
      const timers = new ManualTimers();
      timers.now = now;
      const parts = {
        store,
        logger: createLogger('silent'),
        clock: () => now + 999 * day,
        timers,
        keepMs: 90 * day,
      };
      expect(await new Retention(parts).run()).toBe(0);
    });
  });
});

test('books of a gateway before grants were written add up after the upgrade', async () => {
  const connection = new DatabaseSync(':memory:');
  const db = new Kysely<Database>({ dialect: nodeSqliteDialect(connection) });
  const context = migrationContext('sqlite');
  const at = migrations.findIndex(({ name }) => name === '0012-keys');
  for (const { run } of migrations.slice(0, at)) await run(db as unknown as Kysely<unknown>, context);
  connection.exec(`
    insert into users (id, name, group_name, created_at) values (1, 'root', 'default', 1), (2, 'u', 'default', 1);
    insert into tokens (id, user_id, name, key_hash, key_hint, status, unlimited_quota, remain_quota, used_quota,
      expired_time, created_time) values (1, 1, 'a', 'a', '', 1, 1, 0, 5, -1, 1), (2, 2, 'b', 'b', '', 1, 0, 70, 10, -1, 1);
    insert into ledger (request_id, token_id, user_id, model, unit, reserved, charged, unlimited, state, kind, opened_at,
      closed_at, gateway) values ('r1', 1, 1, 'm', 'tokens', 9, 5, 1, 'settled', 'request', 1, 2, null),
      ('r2', 2, 2, 'm', 'tokens', 20, 10, 0, 'settled', 'request', 1, 2, null),
      ('r3', 2, 2, 'm', 'tokens', 20, null, 0, 'open', 'request', 1, null, 'here'),
      ('r4', 2, 2, 'm', 'tokens', 20, null, 0, 'refunded', 'request', 1, 2, null);
    insert into request_log (request_id, user_id, token_id, token_name, model_name, operation, channel, status, unit,
      units, prompt_tokens, completion_tokens, quota, duration_ms, created_at)
      values ('r1', 1, 1, 'a', 'm', 'o', 'c', 200, 'tokens', 1, 1, 0, 5, 1, 1),
      ('r2', 2, 2, 'b', 'm', 'o', 'c', 200, 'tokens', 1, 1, 0, 10, 1, 1)`);
  for (const { run } of migrations.slice(at)) await run(db as unknown as Kysely<unknown>, context);
  expect(await auditBooks(db)).toMatchObject({
    keys: 2,
    granted: 100,
    held: 20,
    leased: 0,
    spent: 10,
    refunded: 0,
    left: 70,
    problems: [],
  });
  const roles = await sql<{ role: string }>`select role from users order by id`.execute(db);
  expect(roles.rows.map(({ role }) => role)).toEqual(['admin', 'user']);
  await db.destroy();
});
