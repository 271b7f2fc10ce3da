import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { StoreUnavailable } from '../../server/store/availability.ts';
import type { LeasedTask } from '../../server/store/commands/new-tasks.ts';
import { findToken, type TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { engines, onServer, TestStore } from '../store/engines.ts';
import {
  balanceOf,
  disableToken,
  expectBalanced,
  ledgerRows,
  logEntry,
  logRows,
  makeToken,
} from '../store/ledger.ts';
import { QuotaGateway } from './quota-gateways.ts';
import { dropTask, endTask, newTaskRow } from './task-rows.ts';

let number = 0;
const nextId = () => `r${(number += 1)}`;

async function make(by: QuotaGateway, token: TokenRecord, amount: number, requestId = nextId()) {
  const made = await by.makeTask(token, { requestId, amount });
  return made.outcome === 'created' ? made.task : made.outcome;
}

/** Makes a gateway lease quota of a key, which the second use in a short time does. */
async function warm(by: QuotaGateway, token: TokenRecord, amount: number): Promise<void> {
  for (let use = 0; use < 2; use += 1) {
    const requestId = nextId();
    await by.calls.reserve({ requestId, token, model: 'm', unit: 'characters', amount });
    await by.calls.refund({ requestId });
  }
}

const leases = (store: Store, token: TokenRecord) =>
  store.read.selectFrom('quota_leases').selectAll().where('token_id', '=', token.id).execute();

const leasedQuota = async (store: Store, { id }: TokenRecord) =>
  (
    await store.read
      .selectFrom('tokens')
      .select('leased_quota')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  ).leased_quota;

const shown = async (store: Store, token: TokenRecord) =>
  (await findToken(store.read, token.id))?.remainQuota;

async function expectConsistent(store: Store, token: TokenRecord): Promise<void> {
  await expectBalanced(store, token);
  expect(await store.report('auditLedger', null)).toMatchObject({ problems: [] });
}

describe.each(engines)('tasks out of a lease on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  let other: Store;
  let here: QuotaGateway;
  let there: QuotaGateway;
  beforeAll(async () => {
    testStore = await TestStore.make(engine);
    store = await testStore.open();
    // SQLite allows one gateway, but the quota layer works with two on one store.
    other = engine === 'postgres' ? await testStore.open() : store;
  });
  afterAll(() => testStore.remove());
  beforeEach(async () => {
    here = await QuotaGateway.start(store, `here ${nextId()}`);
    there = await QuotaGateway.start(other, `there ${nextId()}`);
  });
  afterEach(async () => {
    await Promise.all([here.calls.stop(), there.calls.stop()]);
  });
  const tasksOf = (token: TokenRecord) =>
    store.read.selectFrom('tasks').select('id').where('token_id', '=', token.id).execute();

  /** Creates a task from a lease, which does not change the row of the key. */
  async function makeLeased(by: QuotaGateway, token: TokenRecord, amount: number) {
    const before = [await balanceOf(store, token), await leasedQuota(store, token)];
    const task = await make(by, token, amount);
    if (typeof task === 'string') throw new Error(task);
    expect([await balanceOf(store, token), await leasedQuota(store, token)]).toEqual(before);
    return task;
  }

  test('do not change the row of the key, and its remaining quota is exact at once', async () => {
    const token = await makeToken(store, { remainQuota: 10_000 });
    await warm(here, token, 100);
    const first = await makeLeased(here, token, 30);
    const second = await makeLeased(here, token, 20);
    expect(await shown(store, token)).toBe(9_950);
    expect(await leases(store, token)).toMatchObject([{ gateway: here.id, unposted: 50 }]);
    const rows = (await ledgerRows(store)).filter((row) => row.kind === 'task' && row.token_id === token.id);
    expect(rows).toMatchObject([
      { request_id: first.requestId, reserved: 30, state: 'open', unlimited: 0, gateway: null },
      { request_id: second.requestId, reserved: 20, state: 'open' },
    ]);
    await expectConsistent(store, token);
    const { left, leased, held, spent, granted } = await store.report('auditLedger', null);
    expect(left + leased + held + spent).toBe(granted);
  });

  test('are settled and refunded by any gateway while the lease exists', async () => {
    const token = await makeToken(store, { remainQuota: 10_000 });
    await warm(here, token, 100);
    const [done, failed, dropped] = [
      await makeLeased(here, token, 30),
      await makeLeased(here, token, 30),
      await makeLeased(here, token, 30),
    ];
    expect(await endTask(store, done.id, 12)).toBe(true);
    expect(await endTask(store, failed.id, null)).toBe(true);
    expect(await dropTask(store, dropped.id)).toBe(true);
    expect(await shown(store, token)).toBe(9_988);
    expect(await leases(store, token)).toHaveLength(1);
    await expectConsistent(store, token);
  });

  test.each([
    ['is returned', () => here.calls.stop()],
    [
      'is recalled',
      async (token: TokenRecord) => {
        await disableToken(store, token);
        await here.calls.pollRecalls();
        await expect.poll(() => leases(store, token)).toEqual([]);
      },
    ],
    ['is of a removed gateway', () => here.removeAsLost()],
    [
      'grows',
      async (token: TokenRecord) => {
        const [before] = await leases(store, token);
        const requestId = nextId();
        await here.calls.reserve({
          requestId,
          token,
          model: 'm',
          unit: 'characters',
          amount: (before?.remaining ?? 0) + 1,
        });
        expect(await leases(store, token)).toMatchObject([{ unposted: 0 }]);
        await here.calls.refund({ requestId });
      },
    ],
  ])('outlive their lease, which %s', async (_, end) => {
    const token = await makeToken(store, { remainQuota: 10_000 });
    await warm(here, token, 100);
    const [one, two] = [await makeLeased(here, token, 30), await makeLeased(here, token, 40)];
    await end(token);
    expect(await shown(store, token)).toBe(9_930);
    await expectConsistent(store, token);
    expect(await endTask(store, one.id, 30)).toBe(true);
    expect(await endTask(store, two.id, null)).toBe(true);
    await here.calls.stop();
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 9_970, used_quota: 30 });
    expect(await leasedQuota(store, token)).toBe(0);
    await expectConsistent(store, token);
  });

  test('of a lost lease are reserved in the balance', async () => {
    const token = await makeToken(store, { remainQuota: 1_000 });
    await warm(there, token, 10);
    await there.removeAsLost();
    expect(await leases(store, token)).toEqual([]);
    expect(await make(there, token, 20)).toMatchObject({ state: 'queued' });
    expect(await balanceOf(store, token)).toMatchObject({ remain_quota: 980 });
    await expectConsistent(store, token);
  });

  test('of a revoked key are refused while its lease still exists', async () => {
    const token = await makeToken(store, { remainQuota: 1_000 });
    await warm(here, token, 10);
    // No poll has run since.
    await disableToken(store, token);
    expect(await make(here, token, 10)).toBe('key_revoked');
    await expect.poll(() => leases(store, token)).toEqual([]);
    expect(await tasksOf(token)).toEqual([]);
    await expectConsistent(store, token);
  });

  test('reclaim quota leased by other gateways when the balance is low', async () => {
    const token = await makeToken(store, { remainQuota: 1_000 });
    await warm(there, token, 20);
    const theirs = await makeLeased(there, token, 20);
    expect(await make(here, token, 981)).toBe('insufficient_quota');
    expect(await make(here, token, 980)).toMatchObject({ state: 'queued' });
    expect(await shown(store, token)).toBe(0);
    expect(await make(there, token, 1)).toBe('insufficient_quota');
    expect(await endTask(store, theirs.id, null)).toBe(true);
    expect(await make(there, token, 20)).toMatchObject({ state: 'queued' });
    await expectConsistent(store, token);
  });

  describe('made in one batch', () => {
    const rowOf = (token: TokenRecord, lease: string, change: Partial<LeasedTask> = {}): LeasedTask => ({
      ...newTaskRow(token, { requestId: nextId(), amount: 5, ...change }),
      lease,
    });
    const outcomes = async (rows: LeasedTask[]) =>
      (await store.run('createLeasedTasks', rows)).map(({ outcome }) => outcome);

    test('are refused one by one by a full queue, and those draw nothing from the lease', async () => {
      const token = await makeToken(store, { remainQuota: 10_000 });
      await warm(here, token, 100);
      const [lease] = await leases(store, token);
      const id = lease?.id ?? '';
      const size = { tasks: 2, bytes: 1_000 };
      const queued = () =>
        rowOf(token, id, {
          askedAt: null,
          queue: {
            pool: 'one',
            channels: '["one"]',
            request: '{}',
            lifetimeMs: 1,
            queuedAt: 1,
            waitUntil: 1_000,
            limits: { total: { tasks: 9, bytes: 1_000 }, user: size },
          },
        });
      const rows = [queued(), queued(), queued(), rowOf(token, id)];
      expect(await outcomes(rows)).toEqual(['created', 'created', 'user_queue_full', 'created']);
      expect(await leases(store, token)).toMatchObject([
        { remaining: (lease?.remaining ?? 0) - 15, unposted: (lease?.unposted ?? 0) + 15 },
      ]);
      await expectConsistent(store, token);
    });

    test('are created one by one, and only those draw from the lease', async () => {
      const token = await makeToken(store, { remainQuota: 10_000 });
      await warm(here, token, 100);
      const [lease] = await leases(store, token);
      const id = lease?.id ?? '';
      const key = { idempotencyKey: 'k', fingerprint: 'f' };
      const [first, used] = [rowOf(token, id, key), rowOf(token, id)];
      await store.run('reserve', {
        requestId: used.requestId,
        tokenId: token.id,
        userId: token.userId,
        model: 'm',
        unit: 'tokens',
        amount: 1,
        kind: 'request',
        gateway: here.id,
        now: 1,
      });
      const twice = rowOf(token, id);
      expect(
        await outcomes([
          rowOf(token, id),
          first,
          rowOf(token, id, key),
          rowOf(token, id, { ...key, fingerprint: 'g' }),
          used,
          twice,
          { ...twice, id: nextId() },
          rowOf(token, 'unknown lease'),
        ]),
      ).toEqual([
        'created',
        'created',
        'replayed',
        'other_request',
        'duplicate',
        'created',
        'duplicate',
        'no_lease',
      ]);
      expect(await outcomes([rowOf(token, id, key), rowOf(token, id)])).toEqual(['replayed', 'created']);
      expect(await leases(store, token)).toMatchObject([
        { remaining: (lease?.remaining ?? 0) - 20, unposted: 20 },
      ]);
      expect(await tasksOf(token)).toHaveLength(4);
      await expectConsistent(store, token);
    });

    test('are created although one of them fails', async () => {
      const token = await makeToken(store, { remainQuota: 10_000 });
      await warm(here, token, 100);
      const create = (change: object) => here.makeTask(token, { requestId: nextId(), amount: 5, ...change });
      // Tasks that arrive while the first is written form one batch.
      const made = [{}, {}, { facts: null }, {}].map((change) => create(change));
      const results = await Promise.allSettled(made);
      expect(results.map(({ status }) => status)).toEqual([
        'fulfilled',
        'fulfilled',
        'rejected',
        'fulfilled',
      ]);
      expect(await shown(store, token)).toBe(9_985);
      await here.calls.stop();
      expect(await balanceOf(store, token)).toMatchObject({ remain_quota: 9_985 });
      await expectConsistent(store, token);
    });

    test('reserve nothing when the store is unavailable', async () => {
      const token = await makeToken(store, { remainQuota: 10_000 });
      let isUnavailable = false;
      const flaky: Store = {
        ...store,
        run: (name, args) =>
          isUnavailable && name === 'createLeasedTasks'
            ? Promise.reject(new StoreUnavailable(new Error('unavailable')))
            : store.run(name, args),
      };
      const third = await QuotaGateway.start(flaky, 'third');
      await warm(third, token, 10);
      isUnavailable = true;
      await expect(make(third, token, 5)).rejects.toMatchObject({ code: 'store_unavailable' });
      await third.calls.stop();
      expect(await balanceOf(store, token)).toEqual({ remain_quota: 10_000, used_quota: 0 });
      await expectConsistent(store, token);
    });
  });

  test('and concurrent calls on several gateways spend the whole quota and never more', async () => {
    const token = await makeToken(store, { remainQuota: 5_000 });
    let spent = 0;
    const customer = async (by: QuotaGateway, isTask: boolean) => {
      for (;;) {
        if (isTask) {
          const task = await make(by, token, 7);
          if (typeof task === 'string') break;
          expect(await endTask(store, task.id, 7)).toBe(true);
        } else {
          const requestId = nextId();
          const request = { requestId, token, model: 'm', unit: 'characters' as const, amount: 7 };
          if ((await by.calls.reserve(request)) !== 'reserved') break;
          expect(await by.calls.settle({ requestId, charged: 7, log: logEntry })).toBeDefined();
        }
        spent += 7;
      }
    };
    await Promise.all(
      Array.from({ length: 24 }, (_, index) => customer(index % 3 === 0 ? there : here, index % 2 === 0)),
    );
    expect(spent).toBe(4_998);
    await expect.poll(() => leases(store, token)).toEqual([]);
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 2, used_quota: 4_998 });
    const entries = (await logRows(store)).filter((row) => row.token_id === token.id);
    expect(entries.reduce((sum, { quota }) => sum + quota, 0)).toBe(4_998);
    await expectConsistent(store, token);
  });
});

describe.runIf(engines.includes('postgres'))('on PostgreSQL', () => {
  test('a task is created while the row of the key is locked', async () => {
    const testStore = await TestStore.make('postgres');
    const store = await testStore.open();
    const here = await QuotaGateway.start(store, 'here');
    const token = await makeToken(store, { remainQuota: 10_000 });
    await warm(here, token, 100);
    const { schema } = testStore.options;
    await onServer(async (client) => {
      await client.query('begin');
      await client.query(`select 1 from ${schema}.tokens where id = $1 for update`, [token.id]);
      const made = await Promise.all(Array.from({ length: 20 }, () => make(here, token, 5)));
      for (const task of made) expect(task).toMatchObject({ state: 'queued' });
      await client.query('rollback');
    });
    expect(await shown(store, token)).toBe(9_900);
    await here.calls.stop();
    await expectConsistent(store, token);
    await testStore.remove();
  });
});
