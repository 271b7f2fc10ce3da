import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Ledger } from '../../server/quota/ledger.ts';
import { nextMonth } from '../../server/store/months.ts';
import { readLogEnd } from '../../server/store/queries/figures.ts';
import type { Statement } from '../../server/store/queries/statements.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import { walletOf } from '../../server/store/queries/wallets.ts';
import type { Store } from '../../server/store/store.ts';
import { eachTestOnEmptyLedger } from './empty-ledger.ts';
import { engines, type TestStore } from './engines.ts';
import { balanceOf, logEntry, makeToken } from './ledger.ts';
import { insertLogEntries } from './raw-rows.ts';

const start = Date.UTC(2026, 0, 1);
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describe.each(engines)('statements on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  let ledger: Ledger;
  let now = start;
  eachTestOnEmptyLedger(
    engine,
    () => now,
    (made) => {
      ({ testStore, store, ledger } = made);
      now = start;
    },
  );

  const change = () => ({ userId: 1, tokenId: 1, action: 'grantQuota' as const, now });
  let calls = 0;
  const spend = async (token: TokenRecord, { reserved, charged }: { reserved: number; charged: number }) => {
    calls += 1;
    const requestId = `r${calls}`;
    const amount = token.unlimitedQuota
      ? reserved
      : Math.min(reserved, (await balanceOf(store, token)).remain_quota);
    const model = `m${calls % 3}`;
    const outcome = await ledger.reserve({ requestId, token, model, unit: 'characters', amount }).then(
      () => true,
      () => false,
    );
    if (outcome) await ledger.settle({ requestId, charged, log: logEntry });
    return requestId;
  };
  const grant = (tokenId: number, amount: number, reason = 'a payment') =>
    store.run('grantQuota', { tokenId, amount, reason, idempotencyKey: null, change: change() });
  const refund = (id: string) =>
    store.run('refundCall', { id, amount: null, reason: 'noise', idempotencyKey: null, change: change() });
  const newKey = (userId: number, remainQuota: number) => {
    calls += 1;
    return { userId, name: `key ${calls}`, keyHash: `hash ${calls}`, keyHint: '', remainQuota, now };
  };
  const create = (userId: number, quota: number) => store.run('createToken', newKey(userId, quota));
  const createChild = (userId: number, makerId: number, quota: number) =>
    store.run('createChildToken', { token: { ...newKey(userId, quota), makerId }, fromMaker: true });
  const calculate = (userId: number, month: string, final = true) =>
    store.report('calculateStatement', { userId, month, final });
  const close = async (userId: number, month: string) =>
    store.run('closeStatement', { userId, statement: await calculate(userId, month), now });

  /** The sums of the lines, and what they add up to. */
  function expectBalanced(statement: Statement): void {
    const { opening, corrections, grants, charges, refunds, forfeited, closing, members } = statement;
    const sum = <Line>(lines: readonly Line[], of: (line: Line) => number) =>
      lines.reduce((total, line) => total + of(line), 0);
    expect(sum(grants.items, ({ quota }) => quota)).toBe(grants.quota);
    expect(sum(grants.items, ({ debt_settled }) => debt_settled)).toBe(grants.debt_settled);
    for (const name of ['requests', 'quota', 'spent', 'debt'] as const)
      expect(
        sum(charges.items, (item) => item[name]),
        name,
      ).toBe(charges[name]);
    for (const name of ['quota', 'credited'] as const)
      expect(
        sum(refunds.items, (item) => item[name]),
        name,
      ).toBe(refunds[name]);
    const ofMembers = (name: 'requests' | 'quota' | 'spent' | 'debt' | 'refunded' | 'credited') =>
      sum(members, (member) => member[name]);
    for (const name of ['requests', 'quota', 'spent', 'debt'] as const)
      expect(ofMembers(name), name).toBe(charges[name]);
    expect([ofMembers('refunded'), ofMembers('credited')]).toEqual([refunds.quota, refunds.credited]);
    expect(closing.balance).toBe(
      opening.balance +
        corrections.balance +
        grants.quota -
        grants.debt_settled +
        refunds.credited -
        charges.spent -
        forfeited,
    );
    expect(closing.debt).toBe(opening.debt + corrections.debt + charges.debt - grants.debt_settled);
  }

  const tenth = fc.integer({ min: 0, max: 9 });
  const step = fc.record({
    after: fc.integer({ min: 0, max: 6 * 24 }).map((hours) => hours * hourMs),
    key: tenth,
    action: fc.oneof(
      fc.record({ kind: fc.constant('spend' as const), reserved: fc.nat(200), charged: fc.nat(300) }),
      fc.record({ kind: fc.constant('grant' as const), amount: fc.integer({ min: -50, max: 400 }) }),
      fc.record({ kind: fc.constant('refund' as const), call: fc.nat(10) }),
      fc.record({ kind: fc.constant('create' as const), quota: fc.nat(50), isChild: fc.boolean() }),
      fc.record({ kind: fc.constant('delete' as const) }),
      fc.record({ kind: fc.constant('roll' as const), limit: fc.integer({ min: 1, max: 5 }) }),
      fc.record({ kind: fc.constant('sweep' as const) }),
      fc.record({ kind: fc.constant('close' as const) }),
    ),
  });

  test('add up to the balances of the keys, whatever is rolled up, deleted and closed meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        await testStore.empty();
        await store.run('recordHeartbeat', { id: 'here', heartbeat: 0 });
        now = start;
        const first = await makeToken(store, { remainQuota: 500, now });
        const { userId } = first;
        const other = await makeToken(store, { remainQuota: 70, now });
        await spend(other, { reserved: 20, charged: 20 });
        const keys: TokenRecord[] = [first, await create(userId, 100)];
        const unlimited = await store.run('createToken', {
          userId,
          name: 'no limit',
          keyHash: `hash of ${userId}`,
          keyHint: '',
          unlimitedQuota: true,
          now,
        });
        keys.push(unlimited);
        const requests: string[] = [];
        const closed = new Map<string, Statement>();
        let month = '2026-01';
        for (const { after, key: index, action } of steps) {
          now += after;
          const key = keys[index % keys.length] ?? first;
          if (action.kind === 'spend') requests.push(await spend(key, action));
          if (action.kind === 'grant' && action.amount !== 0) await grant(key.id, action.amount);
          if (action.kind === 'refund') await refund(requests[action.call] ?? 'none');
          if (action.kind === 'create') {
            const made = action.isChild
              ? await createChild(userId, key.id, action.quota)
              : await create(userId, action.quota);
            if (typeof made !== 'string') keys.push(made);
          }
          if (action.kind === 'delete') await store.run('deleteToken', { id: key.id, userId, by: null, now });
          if (action.kind === 'roll')
            await store.run('rollUpLog', { end: await readLogEnd(store.read), limit: action.limit });
          if (action.kind === 'sweep') await store.run('sweepLog', { closedBefore: now, limit: 5 });
          if (action.kind === 'close')
            for (; Date.parse(`${nextMonth(month)}-01`) <= now; month = nextMonth(month))
              closed.set(month, await close(userId, month));
        }
        now += 62 * dayMs;
        const end = new Date(now).toISOString().slice(0, 7);
        let previous: Statement | undefined;
        for (let one = '2026-01'; one <= end; one = nextMonth(one)) {
          const statement = await close(userId, one);
          expectBalanced(statement);
          expect(statement.corrections).toEqual({ balance: 0, debt: 0 });
          expect(statement.opening).toEqual(previous?.closing ?? { balance: 0, debt: 0 });
          if (closed.has(one)) expect(statement).toEqual(closed.get(one));
          previous = statement;
        }
        const tokens = await store.read
          .selectFrom('tokens')
          .select(['remain_quota', 'debt', 'deleted_at'])
          .where('user_id', '=', userId)
          .execute();
        const total = (values: number[]) => values.reduce((sum, value) => sum + value, 0);
        expect(previous?.closing).toEqual({
          balance: total(tokens.map((token) => (token.deleted_at === null ? token.remain_quota : 0))),
          debt: total(tokens.map(({ debt }) => debt)),
        });
      }),
      { numRuns: engine === 'sqlite' ? 25 : 8 },
    );
  }, 120_000);

  test('list grants, charges by key and model, and refunds with their names', async () => {
    const token = await makeToken(store, { remainQuota: 100, name: 'front end', now });
    await grant(token.id, 50, 'January');
    await grant(token.id, 5, 'January');
    const call = await spend(token, { reserved: 30, charged: 30 });
    await refund(call);
    await spend(token, { reserved: 20, charged: 20 });
    const statement = await calculate(token.userId, '2026-01', false);
    expect(statement).toMatchObject({
      month: '2026-01',
      since: start / 1_000,
      until: Date.UTC(2026, 1, 1) / 1_000,
      user: { id: token.userId, name: 'someone' },
      final: false,
      opening: { balance: 0, debt: 0 },
      grants: { quota: 155, debt_settled: 0 },
      charges: { requests: 2, quota: 50, spent: 50, debt: 0 },
      refunds: { quota: 30, credited: 30, items: [{ token_name: 'front end', quota: 30, credited: 30 }] },
      forfeited: 0,
      closing: { balance: 135, debt: 0 },
    });
    expect(statement.grants.items).toEqual([
      expect.objectContaining({ day: start / 1_000, reason: expect.toBeOneOf([null, 'January']) }),
      expect.objectContaining({ day: start / 1_000, token_name: 'front end' }),
    ]);
    expect(statement.charges.items.map(({ requests, units }) => [requests, units])).toEqual([
      [1, 9],
      [1, 9],
    ]);
  });

  test('continue with the balance of a wallet, which takes over that of the keys', async () => {
    const token = await makeToken(store, { remainQuota: 100, now });
    const { userId } = token;
    const unlimited = await store.run('createToken', { ...newKey(userId, 0), unlimitedQuota: true });
    await spend(token, { reserved: 40, charged: 40 });
    await spend(unlimited, { reserved: 7, charged: 7 });
    now += dayMs;
    await store.run('openWallet', { userId, change: change() });
    expect(await calculate(userId, '2026-01')).toMatchObject({
      grants: { quota: 100 },
      charges: { quota: 47, spent: 40 },
      forfeited: 0,
      closing: { balance: 60, debt: 0 },
    });
    now = Date.UTC(2026, 1, 5);
    const payment = { amount: 500, reason: 'February', reference: 'payment 1' };
    await store.run('grantToWallet', { userId, ...payment, change: change() });
    const call = await spend(token, { reserved: 20, charged: 20 });
    await spend(unlimited, { reserved: 9, charged: 9 });
    await refund(call);
    const january = await close(userId, '2026-01');
    const february = await calculate(userId, '2026-02', false);
    expectBalanced(january);
    expectBalanced(february);
    expect(february).toMatchObject({
      opening: { balance: 60, debt: 0 },
      grants: { quota: 500, items: [{ token_id: null, token_name: null, reason: 'February', quota: 500 }] },
      charges: { quota: 29, spent: 29 },
      refunds: { quota: 20, credited: 20 },
      forfeited: 0,
      closing: { balance: 551, debt: 0 },
    });
    expect((await walletOf(store.read, userId))?.balance).toBe(551);
  });

  test('contain entries of a closed month as corrections of the next one', async () => {
    const token = await makeToken(store, { remainQuota: 100, now });
    now = Date.UTC(2026, 1, 2);
    const january = await close(token.userId, '2026-01');
    // A gateway with a wrong clock records a call in January.
    now = Date.UTC(2026, 0, 31);
    await spend(token, { reserved: 30, charged: 30 });
    now = Date.UTC(2026, 2, 2);
    expect(await close(token.userId, '2026-01')).toEqual(january);
    const february = await close(token.userId, '2026-02');
    expect(february).toMatchObject({
      opening: { balance: 100 },
      corrections: { balance: -30, debt: 0 },
      charges: { requests: 0 },
      closing: { balance: 70 },
    });
    expectBalanced(february);
  });

  test('are stored once when two gateways close a month', async () => {
    const token = await makeToken(store, { remainQuota: 100, now });
    const statement = await calculate(token.userId, '2026-01');
    const order = { userId: token.userId, now };
    const changed = { ...statement, user: { ...statement.user, name: 'renamed' } };
    const results = await Promise.all([
      store.run('closeStatement', { ...order, statement }),
      store.run('closeStatement', { ...order, statement: changed }),
    ]);
    expect(results[0]).toEqual(results[1]);
  });

  test('have a further line for more lines than the maximum', async () => {
    const token = await makeToken(store, { remainQuota: 100, now });
    const entries = Array.from({ length: 10_003 }, (_, index) => ({
      request_id: `x${index}`,
      user_id: token.userId,
      token_id: token.id,
      token_name: '',
      model_name: `model ${index}`,
      operation: 'createSpeech',
      channel: '',
      status: 200,
      error_code: null,
      unit: 'characters',
      units: 1,
      prompt_tokens: 0,
      completion_tokens: 0,
      quota: 2,
      duration_ms: 1,
      created_at: start / 1_000,
    }));
    await insertLogEntries(testStore, entries);
    const { charges } = await calculate(token.userId, '2026-01');
    expect(charges).toMatchObject({ requests: 10_003, quota: 20_006, spent: 0 });
    expect(charges.items).toHaveLength(10_001);
    expect(charges.items.at(-1)).toEqual({
      token_id: null,
      token_name: null,
      member_id: null,
      member_name: null,
      model: null,
      unit: null,
      units: null,
      requests: 3,
      quota: 6,
      spent: 0,
      debt: 0,
    });
  }, 60_000);

  test('of a user can have more quota than the safe integers', async () => {
    const { userId } = await makeToken(store, { remainQuota: 7, now });
    for (let key = 0; key < 10; key += 1) await create(userId, 10 ** 15);
    const statement = await calculate(userId, '2026-01');
    expectBalanced(statement);
    expect(statement.closing.balance).toBeCloseTo(10 ** 16 + 7, -2);
  });

  test('of a user exist from the first activity', async () => {
    const token = await makeToken(store, { remainQuota: 100, now });
    expect(await store.report('statementMonths', { userId: token.userId })).toEqual({
      first: '2026-01',
      closed: null,
    });
    await close(token.userId, '2026-01');
    expect(await store.report('statementMonths', { userId: token.userId })).toEqual({
      first: '2026-01',
      closed: '2026-01',
    });
    expect(await store.report('statementMonths', { userId: 9_999 })).toBeUndefined();
  });
});
