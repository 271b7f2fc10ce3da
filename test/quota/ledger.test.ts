import { describe, expect, test, vi } from 'vitest';
import { Ledger, type ReserveRequest } from '../../server/quota/ledger.ts';
import { findToken, type TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { eachTestOnEmptyLedger } from '../store/empty-ledger.ts';
import { engines, type TestStore } from '../store/engines.ts';
import { balanceOf, expectBalanced, ledgerRows, logEntry, logRows, makeToken } from '../store/ledger.ts';

const fixedNow = 1_700_000_000_500;

describe.each(engines)('ledger on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  let now: number;
  let ledger: Ledger;
  eachTestOnEmptyLedger(
    engine,
    () => now,
    (made) => {
      now = fixedNow;
      ({ testStore, store, ledger } = made);
    },
  );

  const requestOf = (
    token: TokenRecord,
    requestId: string,
    more: Partial<ReserveRequest> = {},
  ): ReserveRequest => ({
    requestId,
    token,
    model: 'alpha3-tts-flash',
    unit: 'characters',
    amount: 10,
    ...more,
  });

  test('settling below the reservation returns the rest and writes the log', async () => {
    const token = await makeToken(store, { remainQuota: 100 });
    expect(await ledger.reserve(requestOf(token, 'r1'))).toBe('reserved');
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 90, used_quota: 0 });
    expect(await ledgerRows(store)).toEqual([
      {
        request_id: 'r1',
        token_id: token.id,
        user_id: token.userId,
        model: 'alpha3-tts-flash',
        unit: 'characters',
        reserved: 10,
        unlimited: 0,
        wallet_id: null,
        budgeted: 0,
        state: 'open',
        kind: 'request',
        opened_at: fixedNow,
        closed_at: null,
        gateway: 'here',
      },
    ]);
    now += 250;
    const log = { ...logEntry, promptTokens: 7, completionTokens: 8 };
    expect(await ledger.settle({ requestId: 'r1', charged: 4, log })).toEqual({ charged: 4, debt: 0 });
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 96, used_quota: 4 });
    // Only the log entry remains.
    expect(await ledgerRows(store)).toEqual([]);
    expect(await logRows(store)).toEqual([
      {
        id: expect.any(Number),
        request_id: 'r1',
        user_id: token.userId,
        token_id: token.id,
        token_name: 'a key',
        model_name: 'alpha3-tts-flash',
        operation: 'createSpeech',
        channel: 'sandbox',
        status: 200,
        error_code: null,
        unit: 'characters',
        units: 9,
        prompt_tokens: 7,
        completion_tokens: 8,
        quota: 4,
        duration_ms: 120,
        created_at: 1_700_000_000,
        reserved: 10,
        unlimited: 0,
        wallet: 0,
        unit_price: 1,
        price_rule: null,
        cost: null,
        group_ratio: 1,
        group_name: 'default',
        config_revision: 'revision',
        task_id: null,
        upstream_id: null,
        state: 'completed',
        debt: 0,
      },
    ]);
  });

  const debtOf = async (token: TokenRecord) => (await findToken(store.read, token.id))?.debt;

  test('a settlement beyond the reservation uses the balance, and the rest is a debt', async () => {
    const onShortfall = vi.fn();
    ledger = new Ledger(store, 'here', () => now, onShortfall);
    const token = await makeToken(store, { remainQuota: 30 });
    const unlimited = await makeToken(store, { unlimitedQuota: true, remainQuota: 3 });
    for (const requestId of ['r1', 'r2', 'r3']) await ledger.reserve(requestOf(token, requestId));
    await ledger.reserve(requestOf(unlimited, 'r4'));
    const settle = (requestId: string, charged: number) =>
      ledger.settle({ requestId, charged, log: logEntry });
    expect(await settle('r1', 4)).toEqual({ charged: 4, debt: 0 });
    expect(await settle('r2', 13)).toEqual({ charged: 13, debt: 0 });
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 3, used_quota: 17 });
    expect(await settle('r3', 20)).toEqual({ charged: 13, debt: 7 });
    expect(await settle('r3', 20)).toBeUndefined();
    expect(await settle('r4', 11)).toEqual({ charged: 11, debt: 0 });
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 0, used_quota: 30 });
    expect(await balanceOf(store, unlimited)).toEqual({ remain_quota: 3, used_quota: 11 });
    expect([await debtOf(token), await debtOf(unlimited)]).toEqual([7, 0]);
    expect((await logRows(store)).map(({ quota, reserved, debt }) => [quota, reserved, debt])).toEqual([
      [4, 10, 0],
      [13, 10, 0],
      [13, 10, 7],
      [11, 10, 0],
    ]);
    expect(onShortfall.mock.calls).toEqual([[{ requestId: 'r3', charged: 13, debt: 7 }]]);
    await expectBalanced(store, token);
    await expectBalanced(store, unlimited);
    expect((await store.report('auditLedger', null)).problems).toEqual([]);
    // A key with a debt and no balance is refused like any empty key.
    expect(await ledger.reserve(requestOf(token, 'r5', { amount: 1 }))).toBe('insufficient_quota');
  });

  test('concurrent settlements of two gateways beyond the balance leave the exact debt', async () => {
    const token = await makeToken(store, { remainQuota: 130 });
    const rival = engine === 'postgres' ? new Ledger(await testStore.open(), 'rival', () => now) : ledger;
    const ids = Array.from({ length: 12 }, (_, index) => `r${index}`);
    for (const requestId of ids) await ledger.reserve(requestOf(token, requestId));
    // Each is settled twice, and one of the two counts.
    const settled = await Promise.all(
      [...ids, ...ids].map((requestId, index) =>
        (index % 2 === 0 ? ledger : rival).settle({ requestId, charged: 15, log: logEntry }),
      ),
    );
    const counted = settled.filter((one) => one !== undefined);
    expect(counted).toHaveLength(12);
    const sum = (name: 'charged' | 'debt') => counted.reduce((total, one) => total + one[name], 0);
    expect([sum('charged'), sum('debt'), await debtOf(token)]).toEqual([130, 50, 50]);
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 0, used_quota: 130 });
    await expectBalanced(store, token);
    expect((await store.report('auditLedger', null)).problems).toEqual([]);
  });

  test('a refund returns the reservation and logs a failure with quota 0', async () => {
    const token = await makeToken(store, { remainQuota: 100 });
    await ledger.reserve(requestOf(token, 'r1'));
    await ledger.reserve(requestOf(token, 'r2'));
    expect(await ledger.refund({ requestId: 'r1' })).toBe(true);
    const log = { ...logEntry, status: 502, errorCode: 'upstream_error', units: 0 };
    expect(await ledger.refund({ requestId: 'r2', log })).toBe(true);
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 100, used_quota: 0 });
    expect(await logRows(store)).toMatchObject([
      { request_id: 'r2', status: 502, error_code: 'upstream_error', quota: 0, token_name: 'a key' },
    ]);
  });

  test('a reservation without enough quota writes nothing', async () => {
    const token = await makeToken(store, { remainQuota: 9 });
    expect(await ledger.reserve(requestOf(token, 'r1'))).toBe('insufficient_quota');
    expect(await ledgerRows(store)).toEqual([]);
    expect(await ledger.settle({ requestId: 'r1', charged: 1, log: logEntry })).toBeUndefined();
    expect(await ledger.refund({ requestId: 'r1', log: logEntry })).toBe(false);
    expect(await logRows(store)).toEqual([]);
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 9, used_quota: 0 });
  });

  test('an unlimited key keeps its balance and counts its use', async () => {
    const token = await makeToken(store, { unlimitedQuota: true, remainQuota: 5 });
    expect(await ledger.reserve(requestOf(token, 'r1', { amount: 1_000 }))).toBe('reserved');
    expect(await ledger.reserve(requestOf(token, 'r2', { amount: 1_000 }))).toBe('reserved');
    await ledger.settle({ requestId: 'r1', charged: 700, log: logEntry });
    await ledger.refund({ requestId: 'r2', log: logEntry });
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 5, used_quota: 700 });
  });

  test('a request id is reserved once while it is open', async () => {
    const token = await makeToken(store, { remainQuota: 15 });
    const other = await makeToken(store, { unlimitedQuota: true });
    const answers = await Promise.all([1, 2, 3, 4].map(() => ledger.reserve(requestOf(token, 'r1'))));
    expect(answers.sort()).toEqual(['duplicate', 'duplicate', 'duplicate', 'reserved']);
    expect(await ledger.reserve(requestOf(other, 'r1'))).toBe('duplicate');
    await ledger.refund({ requestId: 'r1' });
    expect(await ledgerRows(store)).toEqual([]);
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 15, used_quota: 0 });
  });

  test('a request id is charged once, even if it is reserved again', async () => {
    const token = await makeToken(store, { remainQuota: 30 });
    await ledger.reserve(requestOf(token, 'r1'));
    await ledger.settle({ requestId: 'r1', charged: 4, log: logEntry });
    await ledger.reserve(requestOf(token, 'r1'));
    const again = ledger.settle({ requestId: 'r1', charged: 5, log: logEntry });
    await expect(again).rejects.toThrow('the log has an entry of r1');
    expect(await ledger.refund({ requestId: 'r1' })).toBe(true);
    expect(await logRows(store)).toMatchObject([{ quota: 4 }]);
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 26, used_quota: 4 });
  });

  test('one of many concurrent settlements and refunds counts', async () => {
    const token = await makeToken(store, { remainQuota: 1_000 });
    const rival = engine === 'postgres' ? new Ledger(await testStore.open(), 'rival', () => now) : ledger;
    for (let round = 0; round < 10; round += 1) {
      const requestId = `r${round}`;
      await ledger.reserve(requestOf(token, requestId));
      const closed = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          (index + round) % 2 === 0
            ? ledger.settle({ requestId, charged: 3, log: logEntry })
            : rival.refund({ requestId, log: logEntry }),
        ),
      );
      expect(closed.filter(Boolean)).toHaveLength(1);
    }
    expect(await logRows(store)).toHaveLength(10);
    expect(await ledgerRows(store)).toEqual([]);
    await expectBalanced(store, token);
  });

  test('hundreds of concurrent reservations never overspend', async () => {
    const token = await makeToken(store, { remainQuota: 1_000 });
    // On PostgreSQL a second gateway competes for the same balance.
    const rival = engine === 'postgres' ? new Ledger(await testStore.open(), 'rival', () => now) : ledger;
    const answers = await Promise.all(
      Array.from({ length: 400 }, (_, index) =>
        (index % 2 === 0 ? ledger : rival).reserve(requestOf(token, `r${index}`, { amount: 7 })),
      ),
    );
    expect(answers.filter((answer) => answer === 'reserved')).toHaveLength(142);
    expect(answers.filter((answer) => answer === 'insufficient_quota')).toHaveLength(258);
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 6, used_quota: 0 });
    expect(await ledgerRows(store)).toHaveLength(142);
  });

  describe('when a gateway is removed', () => {
    const lostLedger = () => new Ledger(store, 'lost', () => now);
    const free = () => store.run('releaseOrphans', { now, dueNow: now });

    test('its open requests are refunded; other gateways, tasks and closed rows are unaffected', async () => {
      const token = await makeToken(store, { remainQuota: 1_000 });
      const unlimited = await makeToken(store, { unlimitedQuota: true, remainQuota: 1 });
      const lost = lostLedger();
      await store.run('recordHeartbeat', { id: 'lost', heartbeat: 7 });
      await lost.reserve(requestOf(token, 'orphan 1'));
      await lost.reserve(requestOf(unlimited, 'orphan 2'));
      await lost.reserve(requestOf(token, 'settled'));
      await lost.settle({ requestId: 'settled', charged: 10, log: logEntry });
      await lost.reserve(requestOf(token, 'task', { kind: 'task' }));
      await ledger.reserve(requestOf(token, 'another'));
      // The age does not matter, so a clock that is set forward ends nothing.
      now += 365 * 86_400_000;
      expect(await free()).toMatchObject({ reservations: 0 });
      expect(await store.run('removeGateway', { id: 'lost', heartbeat: 6 })).toBe(false);
      expect(await free()).toMatchObject({ reservations: 0 });
      expect(await store.run('removeGateway', { id: 'lost', heartbeat: 7 })).toBe(true);
      const freed = await Promise.all([free(), free()]);
      expect(freed.map(({ reservations }) => reservations)).toEqual(expect.arrayContaining([0, 2]));
      const rows = await ledgerRows(store);
      expect(Object.fromEntries(rows.map((row) => [row.request_id, row.state]))).toEqual({
        'orphan 1': 'refunded',
        'orphan 2': 'refunded',
        task: 'open',
        another: 'open',
      });
      expect(await balanceOf(store, token)).toEqual({ remain_quota: 970, used_quota: 10 });
      expect(await balanceOf(store, unlimited)).toEqual({ remain_quota: 1, used_quota: 0 });
    });

    test('by mistake, its settlement still counts once', async () => {
      const token = await makeToken(store, { remainQuota: 100 });
      const late = lostLedger();
      await late.reserve(requestOf(token, 'r1', { amount: 30 }));
      await free();
      expect(await balanceOf(store, token)).toEqual({ remain_quota: 100, used_quota: 0 });
      const settle = () => late.settle({ requestId: 'r1', charged: 25, log: logEntry });
      expect((await Promise.all([settle(), settle()])).filter(Boolean)).toHaveLength(1);
      expect(await late.refund({ requestId: 'r1', log: logEntry })).toBe(false);
      expect(await free()).toMatchObject({ reservations: 0 });
      expect(await balanceOf(store, token)).toEqual({ remain_quota: 75, used_quota: 25 });
      expect(await logRows(store)).toMatchObject([{ request_id: 'r1', quota: 25 }]);
      await expectBalanced(store, token);
    });

    test('by mistake, its settlement uses the remaining balance, and the rest is a debt', async () => {
      const token = await makeToken(store, { remainQuota: 40 });
      const unlimited = await makeToken(store, { unlimitedQuota: true });
      const late = lostLedger();
      for (const requestId of ['r1', 'r2']) await late.reserve(requestOf(token, requestId, { amount: 20 }));
      await late.reserve(requestOf(unlimited, 'r3', { amount: 20 }));
      await free();
      await ledger.reserve(requestOf(token, 'since', { amount: 25 }));
      for (const requestId of ['r1', 'r2', 'r3'])
        expect(await late.settle({ requestId, charged: 18, log: logEntry })).toBeDefined();
      const quotas = (await logRows(store)).map(({ request_id, quota }) => [request_id, quota]);
      expect(quotas).toEqual([
        ['r1', 15],
        ['r2', 0],
        ['r3', 18],
      ]);
      expect((await logRows(store)).map(({ reserved, debt }) => [reserved, debt])).toEqual([
        [20, 3],
        [20, 18],
        [20, 0],
      ]);
      expect([await debtOf(token), await debtOf(unlimited)]).toEqual([21, 0]);
      expect((await ledgerRows(store)).map((row) => row.request_id)).toEqual(['since']);
      expect(await balanceOf(store, token)).toEqual({ remain_quota: 0, used_quota: 15 });
      await expectBalanced(store, token);
      await expectBalanced(store, unlimited);
    });

    test('by mistake, one of all concurrent closings counts, with extensions and refunds', async () => {
      const token = await makeToken(store, { remainQuota: 10_000 });
      const rivals = engine === 'postgres' ? await testStore.open() : store;
      const [late, rival] = [lostLedger(), new Ledger(rivals, 'lost', () => now)];
      for (let round = 0; round < 20; round += 1) {
        const requestId = `r${round}`;
        await late.reserve(requestOf(token, requestId));
        await free();
        const [extended, settled, refunded] = await Promise.all([
          late.extend({ requestId, from: 10, to: 30 }),
          rival.settle({ requestId, charged: 7, log: logEntry }),
          late.refund({ requestId, log: logEntry }),
          rivals.run('releaseOrphans', { now, dueNow: now }),
        ]);
        expect(['extended', 'not_open']).toContain(extended);
        expect([settled, refunded].filter(Boolean)).toHaveLength(1);
        expect(await ledgerRows(store)).toEqual([]);
        expect((await logRows(store)).at(-1)).toMatchObject({
          request_id: requestId,
          quota: settled ? 7 : 0,
        });
        await expectBalanced(store, token);
      }
    });

    test('by mistake, its refund returns nothing and is logged', async () => {
      const token = await makeToken(store, { remainQuota: 40 });
      const late = lostLedger();
      await late.reserve(requestOf(token, 'r1'));
      await free();
      const log = { ...logEntry, status: 502, errorCode: 'upstream_error', units: 0 };
      expect(await late.refund({ requestId: 'r1', log })).toBe(true);
      expect(await late.refund({ requestId: 'r1', log })).toBe(false);
      expect(await late.settle({ requestId: 'r1', charged: 5, log: logEntry })).toBeUndefined();
      expect(await logRows(store)).toMatchObject([{ request_id: 'r1', quota: 0, reserved: 10, status: 502 }]);
      expect(await ledgerRows(store)).toEqual([]);
      expect(await balanceOf(store, token)).toEqual({ remain_quota: 40, used_quota: 0 });
    });

    test('by mistake, an extended reservation is reserved again in full', async () => {
      const token = await makeToken(store, { remainQuota: 40 });
      const late = lostLedger();
      await late.reserve(requestOf(token, 'r1', { amount: 10 }));
      await free();
      expect(await late.extend({ requestId: 'r1', from: 10, to: 41 })).toBe('insufficient_quota');
      expect(await balanceOf(store, token)).toEqual({ remain_quota: 40, used_quota: 0 });
      await store.run('recordHeartbeat', { id: 'lost', heartbeat: 8 });
      expect(await late.extend({ requestId: 'r1', from: 10, to: 30 })).toBe('extended');
      expect(await free()).toMatchObject({ reservations: 0 });
      expect(await balanceOf(store, token)).toEqual({ remain_quota: 10, used_quota: 0 });
      expect(await late.settle({ requestId: 'r1', charged: 30, log: logEntry })).toEqual({
        charged: 30,
        debt: 0,
      });
      expect(await balanceOf(store, token)).toEqual({ remain_quota: 10, used_quota: 30 });
    });
  });

  test('an invalid amount is refused before anything is written', async () => {
    const token = await makeToken(store, { remainQuota: 100 });
    for (const amount of [-1, 1.5, Number.NaN, 2 ** 53]) {
      await expect(ledger.reserve(requestOf(token, 'bad', { amount }))).rejects.toThrow(RangeError);
    }
    await ledger.reserve(requestOf(token, 'r1'));
    await expect(ledger.settle({ requestId: 'r1', charged: -5, log: logEntry })).rejects.toThrow(RangeError);
    await expectBalanced(store, token);
  });

  test('the ledger balances after any interleaving', async () => {
    const random = seeded(20_260_731);
    const below = (limit: number) => Math.floor(random() * limit);
    const tokens = [
      await makeToken(store, { remainQuota: 400 }),
      await makeToken(store, { remainQuota: 5_000 }),
      await makeToken(store, { unlimitedQuota: true, remainQuota: 3 }),
    ];
    let opened = 0;
    const closed: string[] = [];
    const lost = new Ledger(store, 'lost', () => now);
    const step = async () => {
      // One of the latest, which may be closed or not reserved yet.
      const requestId = `r${opened - below(Math.min(opened + 1, 40))}`;
      const token = tokens[below(tokens.length)] as TokenRecord;
      const [action, amount] = [random(), below(60)];
      const by = random() < 0.5 ? ledger : lost;
      if (action < 0.5) await by.reserve(requestOf(token, `r${(opened += 1)}`, { amount }));
      else if (action < 0.8) {
        if (await by.settle({ requestId, charged: amount, log: logEntry })) closed.push(requestId);
      } else if (action < 0.97) {
        if (await by.refund({ requestId })) closed.push(requestId);
      } else await store.run('releaseOrphans', { now, dueNow: now });
    };
    for (let round = 0; round < 40; round += 1) {
      await Promise.all(Array.from({ length: 1 + below(24) }, step));
      for (const token of tokens) await expectBalanced(store, token);
    }
    expect(closed.length).toBeGreaterThan(20);
    expect(new Set(closed).size).toBe(closed.length);
  });
});

/** Returns a seeded generator of numbers in [0, 1) (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
