import { describe, expect, test } from 'vitest';
import type { Ledger } from '../../server/quota/ledger.ts';
import type { NewRefund, RefundResult } from '../../server/store/commands/refunds.ts';
import { auditLedger } from '../../server/store/queries/audit.ts';
import { listChanges } from '../../server/store/queries/changes.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import { readSnapshot } from '../../server/store/read-snapshot.ts';
import type { Store } from '../../server/store/store.ts';
import { endTask, newTaskRow } from '../quota/task-rows.ts';
import { eachTestOnEmptyLedger } from './empty-ledger.ts';
import { engines, type TestStore } from './engines.ts';
import { balanceOf, logEntry, logRows, makeToken } from './ledger.ts';
import { runStatement } from './raw-rows.ts';

const now = 1_795_000_000_000;

describe.each(engines)('a refund of a settled call on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  let ledger: Ledger;
  let token: TokenRecord;
  let admin: { userId: number; tokenId: number };
  eachTestOnEmptyLedger(
    engine,
    () => now,
    async (made) => {
      ({ testStore, store, ledger } = made);
      const key = await makeToken(store, { unlimitedQuota: true });
      admin = { userId: key.userId, tokenId: key.id };
      token = await makeToken(store, { remainQuota: 100 });
    },
  );

  const spend = async (by: TokenRecord, requestId: string, charged = 30) => {
    await ledger.reserve({ requestId, token: by, model: 'm', unit: 'characters', amount: 40 });
    await ledger.settle({ requestId, charged, log: logEntry });
  };
  const refund = (id: string, change: Partial<NewRefund> = {}, on = store): Promise<RefundResult> =>
    on.run('refundCall', {
      id,
      amount: null,
      reason: 'noise',
      idempotencyKey: null,
      ...change,
      change: { ...admin, action: 'refundCall', now },
    });
  const audit = () => readSnapshot(testStore.options, auditLedger);
  const expectAudited = async (refunded: number) =>
    expect(await audit()).toMatchObject({ problems: [], more: false, refunded });

  test('returns the whole charge to the key, and leaves the log entry unchanged', async () => {
    await spend(token, 'r1');
    expect(await refund('r1')).toMatchObject({
      outcome: 'refunded',
      refund: { request_id: 'r1', charged: 30, amount: 30, creditedTo: token.id, left: 100, reason: 'noise' },
    });
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 100, used_quota: 0 });
    expect(await logRows(store)).toMatchObject([{ request_id: 'r1', quota: 30 }]);
    const { changes } = await listChanges(store.read, { subject: 'request r1', limit: 9, offset: 0 });
    const details = { amount: 30, charged: 30, token_id: token.id, credited_to: token.id, reason: 'noise' };
    expect(changes).toMatchObject([{ action: 'refundCall', user_id: admin.userId }]);
    expect(JSON.parse(changes[0]?.details ?? '')).toEqual(details);
    await expectAudited(30);
  });

  test('returns a part of the charge, from 1 to the whole', async () => {
    await spend(token, 'r1');
    for (const amount of [0, -1, 31])
      expect(await refund('r1', { amount })).toEqual({ outcome: 'out_of_range', charged: 30 });
    expect(await refund('r1', { amount: 1 })).toMatchObject({ refund: { amount: 1, left: 71 } });
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 71, used_quota: 29 });
    await spend(token, 'free', 0);
    expect(await refund('free')).toEqual({ outcome: 'out_of_range', charged: 0 });
    await expectAudited(1);
  });

  test('is made once, also if a part of the charge remains', async () => {
    await spend(token, 'r1');
    await refund('r1', { amount: 10 });
    for (const change of [{}, { amount: 10 }, { amount: 20 }, { idempotencyKey: 'other' }])
      expect(await refund('r1', change)).toMatchObject({
        outcome: 'refunded_before',
        refund: { amount: 10 },
      });
    await expectAudited(10);
  });

  test('is made once by two admins at once', async () => {
    const other = engine === 'postgres' ? await testStore.open() : store;
    for (let round = 0; round < 10; round += 1) {
      await spend(token, `r${round}`, 5);
      const results = await Promise.all(
        [store, other, store, other].map((on) => refund(`r${round}`, {}, on)),
      );
      expect(results.map(({ outcome }) => outcome).sort()).toEqual([
        'refunded',
        ...Array(3).fill('refunded_before'),
      ]);
    }
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 100, used_quota: 0 });
    await expectAudited(50);
  });

  test('repeats its answer under the same idempotency key, also at once and after retention', async () => {
    const other = engine === 'postgres' ? await testStore.open() : store;
    await spend(token, 'r1');
    await spend(token, 'r2');
    const named = { idempotencyKey: 'n', amount: 30 };
    const results = await Promise.all([store, other].map((on) => refund('r1', named, on)));
    expect(results[0]).toMatchObject({ outcome: 'refunded', refund: { left: 70 } });
    expect(results[1]).toEqual(results[0]);
    expect(await refund('r1', { idempotencyKey: 'n' })).toEqual(results[0]);
    for (const [id, change] of [
      ['r2', {}],
      ['r1', { amount: 29 }],
      ['r1', { reason: 'other' }],
    ] as const)
      expect(await refund(id, { ...named, ...change })).toEqual({ outcome: 'reused' });
    await store.run('sweepLog', { closedBefore: now + 1e9, limit: 100 });
    expect(await logRows(store)).toEqual([]);
    expect(await refund('r1', named)).toEqual(results[0]);
    for (const id of ['r1', 'r2']) expect(await refund(id)).toEqual({ outcome: 'not_found' });
    await expectAudited(30);
  });

  test('of a key without a limit corrects what it used, and changes no balance', async () => {
    const unlimited = await makeToken(store, { unlimitedQuota: true });
    await spend(unlimited, 'r1');
    expect(await refund('r1')).toMatchObject({
      refund: { amount: 30, creditedTo: null, left: null, walletBalance: null },
    });
    expect(await balanceOf(store, unlimited)).toEqual({ remain_quota: 0, used_quota: 0 });
    await expectAudited(0);
  });

  test('depends on the limit of the key at the time of the charge', async () => {
    await spend(token, 'r1');
    await runStatement(testStore, `update tokens set unlimited_quota = 1 where id = ${token.id}`);
    expect(await refund('r1')).toMatchObject({ refund: { creditedTo: token.id, left: 100 } });
    await expectAudited(30);
  });

  test('of a deleted key goes to its funder', async () => {
    const funded = {
      userId: token.userId,
      name: 'f',
      keyHash: 'h',
      keyHint: '',
      makerId: token.id,
      remainQuota: 50,
    };
    const child = await store.run('createChildToken', { token: { ...funded, now }, fromMaker: true });
    if (typeof child === 'string') throw new Error(child);
    await spend(child, 'r1');
    await store.run('deleteToken', { id: child.id, userId: child.userId, by: null, now });
    expect(await refund('r1')).toMatchObject({ refund: { creditedTo: token.id, left: 100 } });
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 100, used_quota: 0 });
    expect(await balanceOf(store, child)).toEqual({ remain_quota: 0, used_quota: 0 });
    await expectAudited(30);
  });

  test('works beside a lease of another gateway', async () => {
    await spend(token, 'r1');
    const lease = { id: 'l', tokenId: token.id, gateway: 'here', need: 1, want: 10, grow: false, now };
    expect(await store.run('grantLease', lease)).toMatchObject({ outcome: 'granted' });
    expect(await refund('r1')).toMatchObject({ refund: { left: 100 } });
    await expectAudited(30);
  });

  test('of a task is found by its task id and by its request id', async () => {
    const id = `task_${'0a'.repeat(16)}`;
    await store.run('createTask', newTaskRow(token, { id, requestId: 'r1', amount: 7 }));
    expect(await refund(id)).toEqual({ outcome: 'not_found' });
    await endTask(store, id, 7, now);
    expect(await refund(id, { idempotencyKey: 'n' })).toMatchObject({
      refund: { request_id: 'r1', amount: 7 },
    });
    expect(await refund('r1', { idempotencyKey: 'n' })).toMatchObject({ outcome: 'refunded' });
    expect(await refund('r1')).toMatchObject({ outcome: 'refunded_before' });
    await expectAudited(7);
  });

  test('is reported by the audit if a balance lacks it', async () => {
    await spend(token, 'r1');
    await refund('r1');
    await runStatement(testStore, `update refunds set amount = 29`);
    expect((await audit()).problems).toMatchObject([
      { subject: `key ${token.id}` },
      { subject: `key ${token.id}` },
    ]);
    await runStatement(testStore, `update refunds set amount = 30, charged = 31`);
    expect((await audit()).problems).toMatchObject([{ subject: 'request r1' }]);
  });
});
