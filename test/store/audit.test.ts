import { describe, expect, test } from 'vitest';
import { yieldToEventLoop } from '../../server/lib/timers.ts';
import type { Ledger } from '../../server/quota/ledger.ts';
import { Retention } from '../../server/quota/maintenance.ts';
import { auditLedger } from '../../server/store/queries/audit.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import { readSnapshot } from '../../server/store/read-snapshot.ts';
import type { Store } from '../../server/store/store.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { ManualTimers } from '../support/manual-timers.ts';
import { eachTestOnEmptyLedger } from './empty-ledger.ts';
import { engines, type TestStore } from './engines.ts';
import { balanceOf, ledgerRows, logEntry, logRows, makeChildToken, makeToken } from './ledger.ts';
import { runStatement } from './raw-rows.ts';

const day = 86_400_000;
const start = 1_795_000_000_000;

describe.each(engines)('the ledger on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  let now: number;
  let ledger: Ledger;
  eachTestOnEmptyLedger(
    engine,
    () => now,
    (made) => {
      now = start;
      ({ testStore, store, ledger } = made);
    },
  );

  const audit = () => readSnapshot(testStore.options, auditLedger);
  const hold = (token: TokenRecord, requestId: string, amount = 10) =>
    ledger.reserve({ requestId, token, model: 'm', unit: 'characters', amount });
  const spend = async (token: TokenRecord, requestId: string, charged: number) => {
    await hold(token, requestId);
    await ledger.settle({ requestId, charged, log: logEntry });
  };

  /** Two keys, limited and unlimited, one created with the other and deleted, and every outcome of a call. */
  async function live() {
    const limited = await makeToken(store, { remainQuota: 1_000 });
    const unlimited = await makeToken(store, { unlimitedQuota: true });
    const made = await makeChildToken(store, limited, { remainQuota: 300, now });
    const given = await makeChildToken(store, unlimited, { remainQuota: 50, now });
    for (const [index, token] of [limited, unlimited, made, given].entries()) {
      await spend(token, `settled ${index}`, 4);
      await spend(token, `dear ${index}`, 10);
      await hold(token, `refunded ${index}`);
      await ledger.refund({ requestId: `refunded ${index}`, log: logEntry });
      await hold(token, `silent ${index}`);
      await ledger.refund({ requestId: `silent ${index}` });
      await hold(token, `open ${index}`);
    }
    await store.run('deleteToken', { id: made.id, userId: made.userId, by: null, now });
    return { limited, unlimited, made, given };
  }

  test('is audited repeatedly while a gateway works', async () => {
    const { limited } = await live();
    const audits = Array.from({ length: 3 }, async (_, index) => {
      await spend(limited, `during ${index}`, index);
      return store.report('auditLedger', null);
    });
    for (const { problems } of await Promise.all(audits)) expect(problems).toEqual([]);
    expect(await store.report('auditLedger', null)).toEqual(await audit());
    await runStatement(testStore, `update tokens set used_quota = 0 where id = ${limited.id}`);
    expect((await store.report('auditLedger', null)).problems).toHaveLength(1);
  });

  test('has correct sums', async () => {
    await live();
    expect(await audit()).toEqual({
      keys: 4,
      open: 4,
      closed: 12,
      granted: 1_050,
      held: 30,
      leased: 0,
      spent: 42,
      refunded: 0,
      left: 978,
      debt: 0,
      debtors: [],
      wallets: { wallets: 0, granted: 0, held: 0, leased: 0, spent: 0, refunded: 0, balance: 0, debt: 0 },
      problems: [],
      more: false,
    });
  });

  test('has correct sums at every moment during work', async () => {
    const { limited } = await live();
    let running = true;
    const audits = (async () => {
      while (running) {
        expect((await audit()).problems).toEqual([]);
        // On SQLite an audit does not yield to the event loop.
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
    ['update tokens set used_quota = used_quota + 1 where name =', 'key', /has used 15, which should be 14/],
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
      "update ledger set reserved = -1 where request_id = 'open 0'",
      'request open 0',
      'a reservation that is open with reserved -1',
    ],
    [
      "update ledger set token_id = 999 where request_id = 'open 1'",
      'request open 1',
      'which does not exist',
    ],
    ["delete from request_log where request_id = 'settled 0'", 'key ', 'has used 14, which should be 10'],
    ["update request_log set quota = 3 where request_id = 'refunded 0'", 'key ', 'which should be 17'],
    [
      "update request_log set quota = -1 where request_id = 'settled 1'",
      'request settled 1',
      'with reserved 10, quota -1',
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
      'which does not exist',
    ],
    [
      "update ledger set request_id = 'settled 1' where request_id = 'open 1'",
      'request settled 1',
      'and an open reservation',
    ],
    ["update ledger set kind = 'task' where request_id = 'open 1'", 'request open 1', 'for a finished task'],
    ['update log_counts set entries = entries + 1', 'key ', 'entries of it and counts'],
    ["update grants set amount = amount + 1 where kind = 'moved' and amount > 0", 'key ', 'its moves'],
  ])('name what does not add up: %s', async (statement, subject, words) => {
    await live();
    await runStatement(testStore, statement);
    const { problems } = await audit();
    const told = problems.filter((one) => one.subject.startsWith(subject));
    expect(told.map(({ problem }) => problem).join('\n')).toContain(words);
  });

  describe('entries older than the retention period', () => {
    const sweep = (keepMs: number) => {
      const timers = new ManualTimers();
      timers.now = now;
      const parts = { store, logger: createLogger('silent'), clock: () => now, timers, keepMs };
      return new Retention(parts).run();
    };

    test('are deleted with their log entries, and balances do not change', async () => {
      const { limited, unlimited } = await live();
      const balances = () => Promise.all([limited, unlimited].map((token) => balanceOf(store, token)));
      const before = await audit();
      const left = await balances();
      now += 90 * day;
      await spend(limited, 'fresh', 1);
      await ledger.refund({ requestId: 'open 3' });
      expect(await sweep(90 * day)).toBe(0);
      now += 1_000;
      expect(await sweep(90 * day)).toBe(12);
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
      // Work that was open throughout still ends correctly.
      await ledger.settle({ requestId: 'open 0', charged: 7, log: logEntry });
      now += 91 * day;
      expect(await sweep(90 * day)).toBe(2);
      expect(await audit()).toMatchObject({ problems: [], open: 2, closed: 0, spent: before.spent + 8 });
    });

    test('are deleted in batches by several gateways at once, each exactly once', async () => {
      const token = await makeToken(store, { remainQuota: 10_000 });
      for (let index = 0; index < 30; index += 1) await spend(token, `r${index}`, 2);
      const sweepOnce = () => store.run('sweepLog', { closedBefore: now + 1_000, limit: 4 });
      const all = await Promise.all(Array.from({ length: 6 }, sweepOnce));
      expect(Math.max(...all)).toBeLessThanOrEqual(4);
      let swept = all.reduce((sum, one) => sum + one, 0);
      for (let gone = 1; gone > 0; swept += gone) gone = await sweepOnce();
      expect(swept).toBe(30);
      expect(await audit()).toMatchObject({ problems: [], closed: 0, spent: 60, left: 9_940 });
      // None of it can be charged or refunded again.
      expect(await ledger.settle({ requestId: 'r1', charged: 2, log: logEntry })).toBeUndefined();
      expect(await ledger.refund({ requestId: 'r1', log: logEntry })).toBe(false);
    });

    test('include reservations refunded for a lost gateway, deleted in batches', async () => {
      const token = await makeToken(store, { remainQuota: 10_000 });
      for (let index = 0; index < 10; index += 1) await hold(token, `r${index}`);
      await store.run('removeGateway', { id: 'here', heartbeat: null });
      await store.run('releaseOrphans', { now, dueNow: 1 });
      expect(await store.run('sweepReservations', { closedBefore: now, limit: 4 })).toBe(0);
      const sweepOnce = () => store.run('sweepReservations', { closedBefore: now + 1, limit: 4 });
      const all = await Promise.all(Array.from({ length: 6 }, sweepOnce));
      expect(Math.max(...all)).toBeLessThanOrEqual(4);
      let swept = all.reduce((sum, one) => sum + one, 0);
      for (let gone = 1; gone > 0; swept += gone) gone = await sweepOnce();
      expect(swept).toBe(10);
      expect(await ledgerRows(store)).toEqual([]);
      expect(await audit()).toMatchObject({ problems: [], open: 0, closed: 0, left: 10_000 });
    });

    test('are not deleted when the calendar is set forward', async () => {
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
