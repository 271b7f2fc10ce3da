import type pg from 'pg';
import { describe, expect, test, vi } from 'vitest';
import type { BudgetPeriod } from '../../server/lib/budget-period.ts';
import type { Ledger } from '../../server/quota/ledger.ts';
import { findBudget } from '../../server/store/queries/budgets.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { newTaskRow } from '../quota/task-rows.ts';
import { eachTestOnEmptyLedger } from './empty-ledger.ts';
import { engines, onServer, type TestStore } from './engines.ts';
import { balanceOf, logEntry, makeToken } from './ledger.ts';
import { eachTestOnOneStore } from './one-store.ts';

const noon = Date.parse('2026-11-26T12:00:00Z');
const day = 86_400_000;
const shared = { userId: 1, tokenId: 1, now: noon };

describe.each(engines)('a budget on %s', (engine) => {
  let store: Store;
  let ledger: Ledger;
  let now: number;
  let token: TokenRecord;
  eachTestOnEmptyLedger(
    engine,
    () => now,
    async (made) => {
      now = noon;
      ({ store, ledger } = made);
      token = await makeToken(store, { remainQuota: 10_000 });
    },
  );

  const create = async (
    owner: { userId: number } | { tokenId: number },
    amount: number,
    change: { hard?: boolean } = {},
  ) => {
    const budget = await store.run('createBudget', {
      owner,
      amount,
      period: 'daily',
      timeZone: 'UTC',
      hard: true,
      thresholds: [50, 100],
      change: { ...shared, action: 'createBudget', details: {} },
      ...change,
    });
    if (typeof budget === 'string') throw new Error(budget);
    return budget;
  };
  const reserve = (requestId: string, amount: number, key = token) =>
    ledger.reserve({ requestId, token: key, model: 'm', unit: 'characters', amount });
  const settle = (requestId: string, charged: number) => ledger.settle({ requestId, charged, log: logEntry });
  const state = async (id: number) => {
    const budget = await findBudget(store.read, id);
    return [budget?.spent, budget?.reserved];
  };
  const balance = async () => (await balanceOf(store, token)).remain_quota;

  test('refuses calls that could exceed it, and counts what they cost', async () => {
    const { id } = await create({ tokenId: token.id }, 100);
    expect(await reserve('a', 60)).toBe('reserved');
    expect(await reserve('b', 41)).toBe('over_budget');
    expect(await balance()).toBe(9_940);
    expect(await reserve('c', 40)).toBe('reserved');
    expect(await state(id)).toEqual([0, 100]);
    await settle('a', 50);
    expect(await state(id)).toEqual([50, 40]);
    expect(await ledger.extend({ requestId: 'c', from: 40, to: 51 })).toBe('over_budget');
    expect(await ledger.extend({ requestId: 'c', from: 40, to: 50 })).toBe('extended');
    await ledger.refund({ requestId: 'c' });
    expect(await state(id)).toEqual([50, 0]);
    expect(await balance()).toBe(9_950);
    // A cost beyond the reservation is charged, and free calls are never refused.
    expect(await reserve('d', 50)).toBe('reserved');
    await settle('d', 70);
    expect(await state(id)).toEqual([120, 0]);
    expect([await reserve('e', 0), await reserve('f', 1)]).toEqual(['reserved', 'over_budget']);
  });

  test('refuses tasks, and leases no quota of its keys', async () => {
    const { id } = await create({ userId: token.userId }, 10);
    const row = (requestId: string, amount: number) => newTaskRow(token, { requestId, amount, now });
    expect(await store.run('createTask', row('big', 11))).toEqual({ outcome: 'over_budget' });
    expect(await store.run('createTask', row('small', 10))).toMatchObject({ outcome: 'created' });
    expect(await state(id)).toEqual([0, 10]);
    const lease = { id: 'l', grow: false, tokenId: token.id, gateway: 'here', need: 1, want: 10, now };
    expect(await store.run('grantLease', lease)).toEqual({ outcome: 'scarce' });
    const rows = await store.read.selectFrom('tasks').select('request_id').execute();
    expect(rows).toEqual([{ request_id: 'small' }]);
  });

  test('limits keys without a limit of quota, and keys that are created later', async () => {
    const unlimited = await makeToken(store, { unlimitedQuota: true, remainQuota: 0 });
    const { id } = await create({ tokenId: unlimited.id }, 10);
    const { userId } = unlimited;
    const child = await makeToken(store, { userId, makerId: unlimited.id, unlimitedQuota: true });
    const sibling = await makeToken(store, { userId, unlimitedQuota: true });
    expect(child).toMatchObject({ hasBudget: true });
    expect(sibling).toMatchObject({ hasBudget: false });
    expect(await reserve('a', 6, unlimited)).toBe('reserved');
    expect(await reserve('b', 5, child)).toBe('over_budget');
    expect(await reserve('c', 5, sibling)).toBe('reserved');
    await settle('a', 6);
    expect(await state(id)).toEqual([6, 0]);
  });

  test('is exact when many calls begin at once', async () => {
    const other = await makeToken(store, { userId: token.userId, remainQuota: 10_000 });
    const { id } = await create({ userId: token.userId }, 100);
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, call) => reserve(`call ${call}`, 7, call % 2 === 0 ? token : other)),
    );
    expect(outcomes.filter((outcome) => outcome === 'reserved')).toHaveLength(14);
    expect(await state(id)).toEqual([0, 98]);
  });

  test('begins again at the end of the period, with the open reservations', async () => {
    const { id } = await create({ tokenId: token.id }, 100);
    await reserve('a', 60);
    await settle('a', 60);
    await reserve('b', 40);
    now = noon + day / 2;
    expect(await reserve('c', 61)).toBe('over_budget');
    expect(await reserve('c', 60)).toBe('reserved');
    await settle('b', 30);
    expect(await state(id)).toEqual([30, 60]);
    // A clock that was set back does not return to the earlier period.
    now = noon;
    await settle('c', 60);
    expect(await state(id)).toEqual([90, 0]);
    expect(await findBudget(store.read, id)).toMatchObject({ periodStart: noon + day / 2 });
  });

  test('a soft budget refuses nothing', async () => {
    const { id } = await create({ tokenId: token.id }, 10, { hard: false });
    expect(await reserve('a', 60)).toBe('reserved');
    await settle('a', 60);
    expect(await state(id)).toEqual([60, 0]);
  });

  test('a new budget does not include calls that began before, and a deleted one limits nothing', async () => {
    await reserve('before', 60);
    const first = await create({ tokenId: token.id }, 100);
    await reserve('during', 60);
    await settle('before', 60);
    expect(await state(first.id)).toEqual([0, 60]);
    const change = { ...shared, action: 'deleteBudget', subject: '', details: {} };
    await store.run('deleteBudget', { id: first.id, change });
    expect(await reserve('free', 500)).toBe('reserved');
    const second = await create({ tokenId: token.id }, 100);
    await reserve('after', 40);
    await settle('during', 60);
    expect(await state(second.id)).toEqual([0, 40]);
  });

  test('returns what lost gateways had reserved', async () => {
    const { id } = await create({ tokenId: token.id }, 100);
    await reserve('a', 60);
    await store.run('removeGateway', { id: 'here', heartbeat: null });
    await store.run('releaseOrphans', { now, dueNow: now });
    expect(await state(id)).toEqual([0, 0]);
    // A gateway that comes back settles the call.
    await settle('a', 50);
    expect(await state(id)).toEqual([50, 0]);
  });
});

const describeOnPostgres = engines.includes('postgres') ? describe : describe.skip;
describeOnPostgres('budgets of one user that change at once on postgres', () => {
  let testStore: TestStore;
  let store: Store;
  eachTestOnOneStore('postgres', (made) => {
    ({ testStore, store } = made);
  });

  const create = (userId: number, period: BudgetPeriod) =>
    store.run('createBudget', {
      owner: { userId },
      amount: 1,
      period,
      timeZone: 'UTC',
      hard: true,
      thresholds: [],
      change: { ...shared, action: 'createBudget', details: {} },
    });
  const remove = (id: number) =>
    store.run('deleteBudget', {
      id,
      change: { ...shared, action: 'deleteBudget', subject: '', details: {} },
    });
  const lastBudgetOf = async (tokenId: number) => {
    const token = store.read.selectFrom('tokens').select('budgeted').where('id', '=', tokenId);
    return (await token.executeTakeFirstOrThrow()).budgeted;
  };

  /** Runs commands while the key is locked. Each begins when those before it wait for a lock. */
  async function inOrder(tokenId: number, commands: readonly (() => Promise<unknown>)[]): Promise<unknown[]> {
    return onServer(async (client) => {
      await client.query('begin');
      await client.query(`select 1 from ${testStore.options.schema}.tokens where id = ${tokenId} for update`);
      const running: Promise<unknown>[] = [];
      for (const command of commands) {
        running.push(command());
        await vi.waitUntil(async () => (await countWaiting(client)) === running.length);
      }
      await client.query('commit');
      return Promise.all(running);
    });
  }

  /** Counts the sessions that wait for this one, also through others. */
  async function countWaiting(client: Pick<pg.Client, 'query'>): Promise<number> {
    const { rows } = await client.query<{ waiting: number }>(`
      with recursive waiting (pid) as (
        select pg_backend_pid()
        union
        select l.pid from pg_locks l join waiting w on w.pid = any (pg_blocking_pids(l.pid)) where not l.granted
      )
      select count(*)::int - 1 as waiting from waiting`);
    return rows[0]?.waiting ?? 0;
  }

  const idOf = (budget: unknown) => (budget as { id: number }).id;

  test('a deletion does not hide a budget that is created meanwhile', async () => {
    const { id, userId } = await makeToken(store);
    const first = idOf(await create(userId, 'daily'));
    const [second] = await inOrder(id, [() => create(userId, 'monthly'), () => remove(first)]);
    expect(await lastBudgetOf(id)).toBe(idOf(second));
  });

  test('a budget covers keys that are created meanwhile', async () => {
    const { id, userId } = await makeToken(store);
    const key = (name: string) => ({ userId, name, keyHash: name, keyHint: name, now: noon });
    const [budget, ...tokens] = await inOrder(id, [
      () => create(userId, 'daily'),
      () => store.run('createToken', key('one')),
      () => store.run('createChildToken', { token: { ...key('two'), makerId: id }, fromMaker: false }),
    ]);
    for (const token of tokens) expect(await lastBudgetOf(idOf(token))).toBe(idOf(budget));
  });

  test('a budget is deleted once', async () => {
    const { id, userId } = await makeToken(store);
    const budget = idOf(await create(userId, 'daily'));
    expect(await inOrder(id, [() => remove(budget), () => remove(budget)])).toEqual([true, false]);
    expect(await lastBudgetOf(id)).toBe(0);
  });

  test('the last of many changes counts', async () => {
    const { id, userId } = await makeToken(store);
    for (let round = 0; round < 5; round += 1) {
      const [daily, ...kept] = await Promise.all(
        (['daily', 'weekly', 'monthly'] as const).map((period) => create(userId, period)),
      );
      expect(await lastBudgetOf(id)).toBe(Math.max(...[daily, ...kept].map(idOf)));
      await Promise.all(kept.map((budget) => remove(idOf(budget))));
      expect(await lastBudgetOf(id)).toBe(idOf(daily));
      await remove(idOf(daily));
      expect(await lastBudgetOf(id)).toBe(0);
    }
  });
});
