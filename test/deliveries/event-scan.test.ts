import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import type { FailureKind } from '../../server/channels/failure-kinds.ts';
import type { Health } from '../../server/channels/health.ts';
import { Ledger } from '../../server/quota/ledger.ts';
import type { NewToken } from '../../server/store/commands/accounts.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { EventKind } from '../../server/store/schema.ts';
import type { Store } from '../../server/store/store.ts';
import { EventScan } from '../../server/tasks/callbacks/event-scan.ts';
import { newTaskRow } from '../quota/task-rows.ts';
import { type Engine, engines } from '../store/engines.ts';
import { logEntry, makeToken } from '../store/ledger.ts';
import { eachTestOnOneStore } from '../store/one-store.ts';
import { TestClock } from '../tasks/test-clock.ts';

const start = 1_800_000_000_000;
const minute = 60_000;

describe.each(engines)('a search for events on %s', (engine: Engine) => {
  let store: Store;
  let ledger: Ledger;
  let clock: TestClock;
  let scan: EventScan;
  let wakes: number;
  let channels: Map<string, { name: string; health: Pick<Health, 'unhealthyReason'> }>;
  eachTestOnOneStore(engine, (made) => {
    store = made.store;
    ledger = new Ledger(store, 'one', () => start);
  });
  beforeEach(async () => {
    clock = new TestClock(start);
    wakes = 0;
    channels = new Map();
    scan = another('one');
    await store.run('recordHeartbeat', { id: 'one', heartbeat: 1 });
  });

  const another = (gateway: string, timers = clock) =>
    new EventScan({
      store,
      channels: {
        get all() {
          return [...channels.values()];
        },
      },
      gateway,
      logger: pino({ level: 'silent' }),
      timers,
      clock: timers.now,
      onDeliveries: () => {
        wakes += 1;
      },
    });
  const endpoint = async (userId: number, events: EventKind[], change: { quotaThreshold?: number } = {}) => {
    const created = await store.run('createEndpoint', {
      userId,
      url: `https://app.example/${events.join()}`,
      description: '',
      events,
      quotaThreshold: null,
      secret: 'whsec_AAAA',
      now: start,
      max: 20,
      ...change,
    });
    if (created === 'too_many') throw new Error('too many endpoints');
    return created;
  };
  /** Advances the clock and scans. Returns the number of new deliveries. */
  const next = (ms = 5_000) => {
    clock.jump(ms);
    return scan.run();
  };
  const sent = async () => {
    const rows = await store.read
      .selectFrom('deliveries as d')
      .innerJoin('events as e', 'e.id', 'd.event_id')
      .select([
        'e.kind',
        'e.subject',
        'e.threshold',
        'd.user_id as to',
        'd.endpoint_id as endpoint',
        'e.data',
      ])
      .orderBy('d.id')
      .execute();
    return rows.map(({ data, ...row }) => ({ ...row, data: JSON.parse(data) as Record<string, unknown> }));
  };
  const key = (change: Partial<NewToken> = {}) => makeToken(store, { remainQuota: 100, ...change });
  let calls = 0;
  const reserve = async (token: TokenRecord, amount: number) => {
    calls += 1;
    const requestId = `call ${calls}`;
    await ledger.reserve({ requestId, token, model: 'm', unit: 'characters', amount });
    return requestId;
  };
  const settle = (requestId: string, charged: number) => ledger.settle({ requestId, charged, log: logEntry });
  const spend = async (token: TokenRecord, amount: number) => settle(await reserve(token, amount), amount);
  const grant = (tokenId: number, amount: number) =>
    store.run('grantQuota', {
      tokenId,
      amount,
      reason: 'test',
      idempotencyKey: null,
      change: { userId: 1, tokenId: 1, action: 'grantQuota', now: start },
    });

  test('finds nothing and claims nothing without endpoints', async () => {
    const token = await key();
    await spend(token, 100);
    expect(await next()).toBe(0);
    expect(await store.read.selectFrom('event_scans').selectAll().execute()).toEqual([]);
  });

  test('reports a low balance once for each threshold, and again after a grant', async () => {
    const token = await key();
    const { id } = await endpoint(token.userId, ['quota.low'], { quotaThreshold: 50 });
    const other = await endpoint(token.userId, ['quota.low'], { quotaThreshold: 20 });
    expect(await next()).toBe(0);
    await spend(token, 50);
    expect(await next()).toBe(1);
    expect(wakes).toBe(1);
    expect(await sent()).toEqual([
      {
        kind: 'quota.low',
        subject: `key ${token.id}`,
        threshold: 50,
        to: token.userId,
        endpoint: id,
        data: { user_id: token.userId, key_id: token.id, key_name: 'a key', balance: 50, threshold: 50 },
      },
    ]);
    await spend(token, 30);
    expect(await next()).toBe(1);
    expect((await sent()).at(-1)).toMatchObject({ endpoint: other.id, threshold: 20 });
    expect(await next()).toBe(0);
    await grant(token.id, 31);
    expect([await next(), await next()]).toEqual([0, 0]);
    await spend(token, 1);
    expect(await next()).toBe(1);
    expect((await sent()).at(-1)).toMatchObject({ endpoint: id, data: { balance: 50 } });
  });

  test('reports an exhausted balance once, and not for a key that was never used', async () => {
    await key({ remainQuota: 0 });
    const token = await key();
    await endpoint(token.userId, ['quota.exhausted']);
    await endpoint(0, ['quota.exhausted']);
    expect(await next()).toBe(0);
    await spend(token, 100);
    expect(await next()).toBe(2);
    expect(new Set((await sent()).map(({ to }) => to))).toEqual(new Set([0, token.userId]));
    expect(await next()).toBe(0);
    await grant(token.id, 5);
    await next();
    await spend(token, 5);
    expect(await next()).toBe(2);
  });

  test('counts reserved quota as balance, so that reservations around a threshold cause no events', async () => {
    const token = await key();
    await endpoint(token.userId, ['quota.low'], { quotaThreshold: 50 });
    for (let call = 0; call < 3; call += 1) {
      const requestId = await reserve(token, 60);
      expect(await next()).toBe(0);
      await settle(requestId, 10);
      expect(await next()).toBe(0);
    }
    const lease = {
      id: 'lease',
      grow: false,
      tokenId: token.id,
      gateway: 'one',
      need: 1,
      want: 15,
      now: start,
    };
    expect(await store.run('grantLease', lease)).toMatchObject({ outcome: 'granted' });
    expect(await next()).toBe(0);
    await spend(token, 25);
    expect(await next()).toBe(1);
  });

  test('reports the balance of a wallet, which pays for keys without a limit', async () => {
    const token = await key({ unlimitedQuota: true, remainQuota: 0 });
    const { userId } = token;
    await endpoint(userId, ['quota.low', 'quota.exhausted'], { quotaThreshold: 50 });
    const change = { userId: 1, tokenId: 1, action: 'grantToWallet', now: start };
    const pay = (amount: number) =>
      store.run('grantToWallet', {
        userId,
        amount,
        reference: `payment of ${amount}`,
        reason: 'test',
        change,
      });
    await pay(100);
    expect(await next()).toBe(0);
    await spend(token, 60);
    expect(await next()).toBe(1);
    const data = { user_id: userId, key_id: null, key_name: null };
    expect((await sent()).at(-1)).toMatchObject({
      subject: `user ${userId}`,
      data: { ...data, balance: 40, threshold: 50 },
    });
    await spend(token, 40);
    expect(await next()).toBe(1);
    expect((await sent()).at(-1)).toMatchObject({ kind: 'quota.exhausted', data: { ...data, debt: 0 } });
    await pay(80);
    await next();
    await spend(token, 40);
    expect(await next()).toBe(1);
    expect((await sent()).at(-1)).toMatchObject({ kind: 'quota.low', data: { balance: 40 } });
  });

  test('does not report keys of other users, unlimited, deleted and disabled keys', async () => {
    const [unlimited, deleted, disabled, foreign] = await Promise.all([key(), key(), key(), key()]);
    const all = [unlimited, deleted, disabled, foreign];
    for (const token of all) await spend(token, 100);
    for (const { userId } of [unlimited, deleted, disabled]) await endpoint(userId, ['quota.exhausted']);
    const change = { userId: 1, tokenId: 1, action: 'updateToken', now: start };
    await store.run('updateToken', { id: unlimited.id, set: { unlimitedQuota: true }, change });
    await store.run('deleteToken', { id: deleted.id, userId: deleted.userId, by: null, now: start });
    await store.run('updateToken', { id: disabled.id, set: { status: 2 }, change });
    expect(await next()).toBe(0);
  });

  test('sends nothing to disabled endpoints, and to endpoints of other events', async () => {
    const token = await key();
    const { id, userId } = await endpoint(token.userId, ['quota.exhausted']);
    await endpoint(token.userId, ['task.stuck']);
    await store.run('updateEndpoint', { id, userId, set: { disabled: true }, now: start });
    await spend(token, 100);
    expect(await next()).toBe(0);
  });

  test('reports each threshold of a budget once in a period', async () => {
    const token = await key({ remainQuota: 10_000 });
    await endpoint(token.userId, ['budget.reached']);
    const change = { userId: 1, tokenId: 1, action: 'createBudget', details: {}, now: clock.now() };
    const period = { period: 'daily', timeZone: 'UTC', hard: false, thresholds: [50, 100] } as const;
    await store.run('createBudget', { owner: { tokenId: token.id }, amount: 100, ...period, change });
    const ledgerNow = new Ledger(store, 'one', clock.now);
    const cost = async (requestId: string, charged: number) => {
      await ledgerNow.reserve({ requestId, token, model: 'm', unit: 'characters', amount: charged });
      await ledgerNow.settle({ requestId, charged, log: logEntry });
    };
    await cost('first', 49);
    expect(await next()).toBe(0);
    await cost('second', 1);
    expect([await next(), await next()]).toEqual([1, 0]);
    expect((await sent()).at(-1)).toMatchObject({
      kind: 'budget.reached',
      threshold: 50,
      data: { user_id: token.userId, key_id: token.id, amount: 100, spent: 50, hard: false },
    });
    await cost('third', 60);
    expect([await next(), await next()]).toEqual([1, 0]);
    expect(await next(1_440 * minute)).toBe(0);
    await cost('fourth', 200);
    expect([await next(), await next()]).toEqual([2, 0]);
  });

  test('reports a stuck task once, to its user and the operator', async () => {
    const token = await key();
    await store.run(
      'createTask',
      newTaskRow(token, {
        requestId: 'stuck',
        amount: 1,
        askedAt: start,
        deadlineAt: start + 1_000 * minute,
      }),
    );
    await endpoint(token.userId, ['task.stuck']);
    await endpoint(0, ['task.stuck']);
    const stranger = await key();
    await endpoint(stranger.userId, ['task.stuck']);
    expect(await next(15 * minute)).toBe(0);
    expect(await next()).toBe(2);
    expect(await sent()).toMatchObject([
      {
        kind: 'task.stuck',
        subject: 'task task of stuck',
        data: {
          user_id: token.userId,
          key_id: token.id,
          task_id: 'task of stuck',
          model: 'gamma3.0-video',
          reported_at: new Date(start).toISOString(),
        },
      },
      { kind: 'task.stuck' },
    ]);
    expect(await next()).toBe(0);
  });

  test('reports an unhealthy channel once until it is healthy everywhere, and not again within minutes', async () => {
    const setReason = (unhealthyReason: FailureKind | undefined) =>
      channels.set('eu', { name: 'eu', health: { unhealthyReason } });
    await endpoint(0, ['channel.unhealthy']);
    await endpoint((await key()).userId, ['quota.exhausted']);
    setReason(undefined);
    expect(await next()).toBe(0);
    setReason('key_refused');
    expect(await next()).toBe(1);
    expect(await sent()).toMatchObject([
      {
        kind: 'channel.unhealthy',
        subject: 'channel eu',
        to: 0,
        data: { channel: 'eu', since: new Date(clock.now()).toISOString(), reason: 'key_refused' },
      },
    ]);
    const setHealth = async (state: 'healthy' | 'resting', ms: number) => {
      setReason(state === 'resting' ? 'server_error' : undefined);
      return next(ms);
    };
    // It flaps.
    expect(await setHealth('healthy', minute)).toBe(0);
    expect(await setHealth('resting', minute)).toBe(0);
    // Another gateway still sees the outage. After it is lost, its row does not count.
    const two = another('two');
    await store.run('recordHeartbeat', { id: 'two', heartbeat: 1 });
    clock.jump(5_000);
    await two.run();
    expect(await setHealth('healthy', minute)).toBe(0);
    expect(await openEvents()).toBe(1);
    await store.run('removeGateway', { id: 'two', heartbeat: null });
    await next();
    expect(await openEvents()).toBe(0);
    expect(await setHealth('resting', 11 * minute)).toBe(1);
  });
  const openEvents = async () =>
    (await store.read.selectFrom('events').select('id').where('ended_at', 'is', null).execute()).length;

  test('several gateways that scan at once record an event once', async () => {
    const token = await key();
    await endpoint(token.userId, ['quota.exhausted']);
    await spend(token, 100);
    clock.jump(5_000);
    const scans = [scan, another('two'), another('three')];
    await Promise.all(scans.map((one) => one.run()));
    const now = clock.now();
    // Also without the claim, as after a clock that jumped.
    const event = { kind: 'quota.exhausted', userId: token.userId, tokenId: token.id, threshold: 0 } as const;
    const record = (id: string) =>
      store.run('recordEvents', {
        events: [{ ...event, id, subject: `key ${token.id}`, period: id, data: {}, endedAt: null }],
        now,
        dueNow: now,
      });
    await Promise.all(['a', 'b', 'c'].map(record));
    expect(await sent()).toHaveLength(1);
  });

  test('one gateway scans at a time, also after its clock was ahead', async () => {
    await endpoint(0, ['quota.exhausted']);
    const scannedAt = async () => (await store.read.selectFrom('event_scans').selectAll().execute()).at(0);
    await next();
    const first = await scannedAt();
    await another('two').run();
    expect(await scannedAt()).toEqual(first);
    clock.step(86_400_000);
    await next();
    clock.step(-86_400_000);
    await next();
    expect(await scannedAt()).toMatchObject({ scanned_at: clock.now() });
  });

  test('deletes events a month after their end', async () => {
    const token = await key();
    await endpoint(token.userId, ['quota.exhausted', 'task.stuck']);
    await spend(token, 100);
    await next();
    await grant(token.id, 100);
    await next();
    await store.run('pruneDeliveries', { closedBy: Number.MAX_SAFE_INTEGER, limit: 10 });
    await next(31 * 1_440 * minute);
    // The open delivery keeps its event.
    expect(await sent()).toHaveLength(1);
    const closed = { tries: 0, answer: 200, next: { outcome: 'delivered' }, now: start } as const;
    const [row] = await store.read.selectFrom('deliveries').select(['id', 'attempt']).execute();
    await store.run('recordDelivery', {
      id: row?.id ?? 0,
      taskId: null,
      attempt: row?.attempt ?? 0,
      ...closed,
    });
    await store.run('pruneDeliveries', { closedBy: start, limit: 10 });
    await next(11 * minute);
    expect(await store.read.selectFrom('events').select('id').execute()).toEqual([]);
  });
});
