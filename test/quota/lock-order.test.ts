import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type BookedCall, settleCalls } from '../../server/store/commands/booked-calls.ts';
import { createBudget, deleteBudget } from '../../server/store/commands/budgets.ts';
import { releaseOrphans } from '../../server/store/commands/gateways.ts';
import { refund, reserve } from '../../server/store/commands/ledger.ts';
import { removeMember, updateMember } from '../../server/store/commands/members.ts';
import { refundCall } from '../../server/store/commands/refunds.ts';
import { deleteToken, returnLeftovers, revokeToken } from '../../server/store/commands/tokens.ts';
import { updateUser } from '../../server/store/commands/users.ts';
import { openWallet } from '../../server/store/commands/wallets.ts';
import { numbersAsNumbers } from '../../server/store/postgres/types.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Database, Db } from '../../server/store/schema.ts';
import type { Store } from '../../server/store/store.ts';
import { databaseUrl, engines, TestStore } from '../store/engines.ts';
import { logEntry, makeAccount, makeChildToken, makeToken } from '../store/ledger.ts';

const rounds = 100;
/** For tests whose deadlock needs fewer rounds. */
const fewRounds = 25;
const now = Date.now();
const change = { userId: 1, tokenId: 1, now };
let number = 0;
const nextId = () => `r${(number += 1)}`;

// The store repeats a transaction after a deadlock, so these tests run the commands without it.
describe.runIf(engines.includes('postgres'))('the order of locks', () => {
  let testStore: TestStore;
  let store: Store;
  let db: Kysely<Database>;
  beforeAll(async () => {
    testStore = await TestStore.make('postgres');
    store = await testStore.open();
    await store.run('recordHeartbeat', { id: 'live', heartbeat: 0 });
    const options = `-c search_path=${testStore.options.schema} -c deadlock_timeout=20ms`;
    const pool = new pg.Pool({ connectionString: databaseUrl, options, types: numbersAsNumbers, max: 8 });
    db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  });
  afterAll(async () => {
    await db.destroy();
    await testStore.remove();
  });

  const inTransaction = <T>(work: (trx: Db) => Promise<T>) => db.transaction().execute(work);
  const release = () => inTransaction((trx) => releaseOrphans(trx, { now, dueNow: now }));
  /** Runs all at once, in a random order. @throws the first failure, such as a deadlock, after all have ended */
  const runAll = async (works: readonly (() => Promise<unknown>)[]) => {
    const shuffled = works.toSorted(() => Math.random() - 0.5);
    const outcomes = await Promise.allSettled(shuffled.map((work) => work()));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  };
  const hold = async (token: TokenRecord, gateway: string) => {
    const requestId = nextId();
    const { id: tokenId, userId } = token;
    const work = { requestId, tokenId, userId, model: 'm', unit: 'characters', amount: 5 } as const;
    const outcome = await inTransaction((trx) => reserve(trx, { ...work, kind: 'request', gateway, now }));
    expect(outcome).toBe('reserved');
    return requestId;
  };
  /** Settles a call of each key without its lease, so that the balances of the keys pay. Returns their ids. */
  const settle = async (keys: readonly Pick<TokenRecord, 'id' | 'userId'>[]) => {
    const calls = keys.map(
      ({ id: tokenId, userId }): BookedCall => ({
        requestId: nextId(),
        tokenId,
        userId,
        model: 'm',
        unit: 'characters',
        lease: 'gone',
        held: 5,
        charged: 1,
        returned: 4,
        endedAt: now,
        log: logEntry,
      }),
    );
    await inTransaction((trx) => settleCalls(trx, { calls }));
    return calls.map(({ requestId }) => requestId);
  };
  const limit = (owner: { userId: number } | { tokenId: number }) =>
    store.run('createBudget', {
      owner,
      amount: 1e9,
      period: 'monthly',
      timeZone: 'UTC',
      hard: true,
      thresholds: [1],
      change: { ...change, action: 'createBudget', details: {} },
    });
  const expectNothingReserved = async () => {
    expect(await store.report('auditLedger', null)).toMatchObject({ problems: [], held: 0, leased: 0 });
    const budgets = await store.read.selectFrom('budgets').select('reserved').execute();
    expect(budgets.filter(({ reserved }) => reserved !== 0)).toEqual([]);
  };

  // The wallet of a customer is locked before the budgets. Without one, only the order of the budgets prevents a deadlock.
  test.each([
    ['sub-accounts of a wallet', true],
    ['keys without a wallet', false],
  ])(
    'releases of lost gateways do not deadlock with calls of %s whose budgets overlap',
    { timeout: 120_000 },
    async (_, wallet) => {
      const { id: userId } = await store.run('createUser', { name: 'customer', group: 'default', now });
      const paid = { userId, amount: 1e9, reason: 'paid', reference: nextId() };
      if (wallet)
        await store.run('grantToWallet', { ...paid, change: { ...change, action: 'grantToWallet' } });
      const accounts = wallet
        ? [await makeAccount(store, userId), await makeAccount(store, userId)]
        : [userId, userId];
      const keys: TokenRecord[] = [];
      for (const owner of [userId, ...accounts, ...accounts])
        keys.push(await makeToken(store, { userId: owner, unlimitedQuota: true }));
      // The ids of the budgets are in no order of the users and keys.
      const [parent, first, second, third] = keys.map(({ id: tokenId }) => ({ tokenId }));
      const [left, right] = wallet ? accounts.map((account) => ({ userId: account })) : [];
      for (const owner of [third, left, second, { userId }, right, first, parent])
        if (owner !== undefined) await limit(owner);
      for (let round = 0; round < rounds; round += 1) {
        const open = await Promise.all(keys.map((token) => hold(token, 'live')));
        await Promise.all(keys.map((token) => hold(token, `lost ${round}`)));
        const refunds = open.map(
          (requestId) => () => inTransaction((trx) => refund(trx, { requestId, now })),
        );
        await runAll([release, release, ...refunds]);
      }
      await release();
      await expectNothingReserved();
    },
  );

  test('releases of lost gateways do not deadlock with calls of a key that funded a deleted one', {
    timeout: 120_000,
  }, async () => {
    const maker = await makeToken(store, { remainQuota: 1e9, canCreateKeys: true });
    for (let round = 0; round < rounds; round += 1) {
      const made = await makeChildToken(store, maker, { remainQuota: 100 });
      await hold(made, `lost ${round}`);
      await store.run('deleteToken', { id: made.id, userId: made.userId, by: null, now });
      await runAll([release, release, () => settle([made, maker])]);
    }
    await expectNothingReserved();
  });

  const familyChanges: Record<string, (trx: Db, key: TokenRecord, memberId: number) => Promise<unknown>> = {
    'the deletion of a key': (trx, { id, userId }) => deleteToken(trx, { id, userId, by: null, now }),
    'the revocation of a key': (trx, { id }) =>
      revokeToken(trx, { id, change: { ...change, action: 'revokeToken', details: {} } }),
    'the revocation of a key without its children': (trx, { id }) =>
      revokeToken(trx, { id, keepChildren: true, change: { ...change, action: 'revokeToken', details: {} } }),
    'the removal of a member': (trx, { userId }, id) => removeMember(trx, { userId, id, now }),
    'a new role of a member': (trx, { userId }, id) =>
      updateMember(trx, { userId, id, set: { role: 'owner' } }),
  };
  test.each(Object.entries(familyChanges))(
    '%s does not deadlock with calls of its family',
    { timeout: 120_000 },
    async (_, apply) => {
      const maker = await makeToken(store, { remainQuota: 1e9, canCreateKeys: true });
      const { userId } = maker;
      for (let round = 0; round < fewRounds; round += 1) {
        const member = await store.run('createMember', { userId, name: nextId(), role: 'developer', now });
        if (typeof member === 'string') throw new Error(member);
        const quota = { remainQuota: 1_000, canCreateKeys: true };
        const key = await makeChildToken(store, maker, { ...quota, memberId: member.id });
        const children = [
          await makeChildToken(store, key, { ...quota, remainQuota: 100 }),
          await makeChildToken(store, key, { ...quota, remainQuota: 100 }),
        ];
        const family = [maker, key, ...children];
        await runAll([
          () => settle(family),
          () => settle(family),
          () => inTransaction((trx) => apply(trx, key, member.id)),
        ]);
      }
      await expectNothingReserved();
    },
  );

  const userChanges: Record<string, (trx: Db, userId: number, round: number) => Promise<unknown>> = {
    'the disabling of a user': (trx, id, round) =>
      updateUser(trx, {
        id,
        set: { disabled: round % 2 === 0 },
        change: { ...change, action: 'updateUser' },
      }),
    'a budget of a user': async (trx, userId, round) => {
      const limits = { amount: 1e9, timeZone: 'UTC', hard: true, thresholds: [1] };
      const period = (['daily', 'weekly', 'monthly'] as const)[round % 3] ?? 'daily';
      const by = { ...change, action: 'createBudget', details: {} } as const;
      const budget = await createBudget(trx, { owner: { userId }, ...limits, period, change: by });
      if (typeof budget === 'string') throw new Error(budget);
      const { id } = budget;
      await deleteBudget(trx, { id, change: { ...by, action: 'deleteBudget', subject: `budget ${id}` } });
    },
  };
  test.each(Object.entries(userChanges))(
    '%s does not deadlock with calls of its keys',
    {
      timeout: 120_000,
    },
    async (_, apply) => {
      const { id: userId } = await store.run('createUser', { name: 'customer', group: 'default', now });
      const keys: TokenRecord[] = [];
      const leases: string[] = [];
      // Only leases are recalled.
      for (let count = 0; count < 4; count += 1) {
        const token = await makeToken(store, { userId, remainQuota: 1e6 });
        keys.push(token);
        const id = nextId();
        leases.push(id);
        const lease = { id, tokenId: token.id, gateway: 'live', now };
        const granted = await store.run('grantLease', { ...lease, need: 1, want: 1, grow: false });
        expect(granted).toMatchObject({ outcome: 'granted' });
      }
      for (let round = 0; round < fewRounds; round += 1)
        await runAll([
          () => settle(keys),
          () => settle(keys),
          () => inTransaction((trx) => apply(trx, userId, round)),
        ]);
      for (const id of leases) await store.run('returnLease', { id, amount: null, now });
      await expectNothingReserved();
    },
  );

  test('returns of the quota of deleted keys do not deadlock with their calls', {
    timeout: 120_000,
  }, async () => {
    const maker = await makeToken(store, { remainQuota: 1e9, canCreateKeys: true });
    for (let round = 0; round < fewRounds; round += 1) {
      const made = await makeChildToken(store, maker, { remainQuota: 100 });
      const other = await makeChildToken(store, maker, { remainQuota: 100 });
      const requestId = await hold(made, 'live');
      const [id = ''] = await settle([other]);
      for (const { id: token, userId } of [made, other])
        await store.run('deleteToken', { id: token, userId, by: null, now });
      await inTransaction((trx) => refund(trx, { requestId, now }));
      const order = { id, amount: null, reason: 'late', idempotencyKey: null };
      await runAll([
        () => settle([maker, made]),
        () => settle([maker, other]),
        () => inTransaction((trx) => returnLeftovers(trx, { limit: 10, now })),
        () =>
          inTransaction((trx) => refundCall(trx, { ...order, change: { ...change, action: 'refundCall' } })),
      ]);
    }
    await expectNothingReserved();
  });

  test('a call that waits while the wallet of its lease opens is recorded as paid by the wallet', async () => {
    const { id: tokenId, userId } = await makeToken(store, { remainQuota: 1_000 });
    const lease = { id: 'opening', grow: false, gateway: 'live', need: 1, want: 100 };
    await store.run('grantLease', { ...lease, tokenId, now });
    const requestId = nextId();
    const call: BookedCall = {
      requestId,
      tokenId,
      userId,
      model: 'm',
      unit: 'characters',
      lease: 'opening',
      held: 5,
      charged: 5,
      returned: 0,
      endedAt: now,
      log: logEntry,
    };
    const { settled } = await inTransaction(async (trx) => {
      await openWallet(trx, { userId, change: { ...change, action: 'openWallet' } });
      const waiting = store.run('settleCalls', { calls: [call] });
      const waits = sql`select 1 from pg_stat_activity
        where query like '%update quota_leases%' and wait_event_type = 'Lock'`;
      await vi.waitFor(async () => expect((await waits.execute(store.read)).rows).not.toEqual([]));
      return { settled: waiting };
    });
    expect(await settled).toEqual({ settlements: [{ charged: 5, debt: 0 }], gone: [] });
    const entry = store.read.selectFrom('request_log').select(['wallet', 'token_name']);
    expect(await entry.where('request_id', '=', requestId).execute()).toMatchObject([{ wallet: 1 }]);
    expect((await store.report('auditLedger', null)).problems).toEqual([]);
  });
});
