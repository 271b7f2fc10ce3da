import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { DeliveryClaim } from '../../server/store/commands/delivery-claims.ts';
import { engines } from '../store/engines.ts';
import { makeToken } from '../store/ledger.ts';
import { runStatement } from '../store/raw-rows.ts';
import { now, TaskHarness } from '../tasks/harness.ts';
import { Outbox } from './outbox.ts';
import { Receiver } from './receiver.ts';

const hostileUser = 7;
const neighbor = 8;

describe.each(engines)('delivery slots on %s', (engine) => {
  let rig: TaskHarness;
  TaskHarness.eachTest(engine, (made) => {
    rig = made;
  });

  /** Adds due deliveries without their tasks. `host`: an SQL expression in which `i` counts from 1. */
  const addDue = (userId: number, count: number, host: string, dueAt = now) =>
    runStatement(
      rig.testStore,
      `insert into deliveries (task_id, user_id, state, host, changed_at, tries, next_try_at, attempt)
      with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count})
      select 'task_${userId}_${dueAt}_' || i, ${userId}, 'completed', ${host}, 0, 0, ${dueAt}, 0 from n`,
    );
  const claim = async (change: Partial<DeliveryClaim> = {}) => {
    const limits = { total: 256, perUser: 64, perHost: 16 };
    const lease = { owner: 'one', now, until: now + 20_000, limits, running: [], ...change };
    const { deliveries, nextDueAt } = await rig.store.run('claimDeliveries', lease);
    const of = (userId: number) => deliveries.filter((one) => one.userId === userId);
    return { deliveries, nextDueAt, of };
  };

  test('one user with 5,000 hosts gets at most the slots per user, and other users are claimed too', async () => {
    await addDue(hostileUser, 5_000, `'host-' || i`, now - 60_000);
    await addDue(neighbor, 3, `'neighbor'`);
    const first = await claim();
    expect([first.of(hostileUser).length, first.of(neighbor).length]).toEqual([64, 3]);
    // While all attempts are in flight, no more deliveries of that user are claimed, but all of others.
    await addDue(9, 2, `'another'`);
    const second = await claim({ running: first.of(hostileUser) });
    expect(second.deliveries.map(({ userId }) => userId)).toEqual([9, 9]);
  });

  test('users get equal shares, and the last one leaves slots to others', async () => {
    for (const userId of [1, 2, 3]) await addDue(userId, 40, `'host-${userId}-' || i`, now - userId);
    const { of } = await claim({ limits: { total: 30, perUser: 64, perHost: 16 } });
    expect([3, 2, 1].map((userId) => of(userId).length)).toEqual([10, 10, 5]);
  });

  test('the only free slot goes to a user that has none', async () => {
    await addDue(1, 1, `'host-1'`, now - 9);
    await addDue(2, 1, `'host-2'`);
    const running = [1, 1, 3].map((userId, index) => ({ userId, host: `host-3-${index}` }));
    const { deliveries } = await claim({ limits: { total: 4, perUser: 64, perHost: 16 }, running });
    expect(deliveries).toMatchObject([{ userId: 2 }]);
  });

  test('a user that needs less than its share leaves the rest to others', async () => {
    await addDue(1, 10, `'host-1-' || i`, now - 9);
    await addDue(2, 1, `'host-2'`);
    const limits = { total: 16, perUser: 64, perHost: 16 };
    const running = Array.from({ length: 4 }, (_, index) => ({ userId: 3, host: `host-3-${index}` }));
    const first = await claim({ limits, running });
    expect([first.of(1).length, first.of(2).length, first.nextDueAt]).toEqual([6, 1, now + 20_000]);
  });

  test('one user gets half of the slots of a host, so that another can reach it', async () => {
    await addDue(hostileUser, 100, `'shared'`, now - 60_000);
    await addDue(hostileUser, 2, `'own-' || i`);
    await addDue(neighbor, 1, `'shared'`);
    const { of } = await claim();
    expect(of(hostileUser).filter(({ host }) => host === 'shared')).toHaveLength(8);
    expect(of(hostileUser).filter(({ host }) => host !== 'shared')).toHaveLength(2);
    expect(of(neighbor)).toHaveLength(1);
  });

  test('the longest due deliveries of a user are claimed first', async () => {
    for (const age of [1, 3, 2]) await addDue(1, 1, `'host-${age}'`, now - age);
    const limits = { total: 3, perUser: 64, perHost: 16 };
    const { deliveries, nextDueAt } = await claim({ limits });
    expect(deliveries.map(({ host }) => host).toSorted()).toEqual(['host-2', 'host-3']);
    expect(nextDueAt).toBe(now + 20_000);
  });

  test('two gateways share the deliveries of a user, and neither delays another user', async () => {
    await addDue(hostileUser, 1_000, `'host-' || i`, now - 60_000);
    const [one, two] = await Promise.all([claim(), claim({ owner: 'two' })]);
    const ids = [...one.deliveries, ...two.deliveries].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect([one, two].map(({ of }) => of(hostileUser).length)).toEqual([64, 64]);
    await addDue(neighbor, 1, `'neighbor'`);
    const next = [
      await claim({ running: one.deliveries }),
      await claim({ owner: 'two', running: two.deliveries }),
    ];
    expect(next.flatMap(({ deliveries }) => deliveries)).toMatchObject([{ userId: neighbor }]);
  });
});

describe.each(engines)('a user whose receivers never respond, on %s', (engine) => {
  let outbox: Outbox;
  let silent: Receiver[];
  let receiver: Receiver;
  TaskHarness.eachTest(engine, (rig) => {
    outbox = new Outbox(rig);
  });
  beforeEach(async () => {
    receiver = await Receiver.start();
    silent = await Promise.all(Array.from({ length: 12 }, () => Receiver.start()));
    for (const one of silent) one.answer = () => {};
  });
  afterEach(async () => {
    await outbox.close();
    await Promise.all([receiver, ...silent].map((one) => one.close()));
  });

  test('does not delay the first attempt of another user', async () => {
    const { rig } = outbox;
    const deliveries = outbox.another({ limits: { total: 8 } });
    for (const { url } of silent.map((one) => ({ url: one.url() }))) await outbox.submit(url);
    await deliveries.start();
    const started = () => silent.reduce((sum, { seen }) => sum + seen.length, 0);
    await vi.waitFor(async () => {
      await rig.advance(0);
      expect(started()).toBe(4);
    });
    const other = await makeToken(rig.store, { remainQuota: 1_000 });
    const { id: tokenId, userId, name: tokenName } = other;
    const { caller } = rig.order();
    await outbox.submit(receiver.url(), { caller: { ...caller, tokenId, userId, tokenName } });
    deliveries.wake();
    await vi.waitFor(async () => {
      // The minimum gap between two claims is far less than the 5 s timeout of a receiver.
      if (rig.clock.monotonic() < now + 1_000) await rig.advance(50);
      expect(receiver.seen).toHaveLength(1);
    });
    expect([started(), rig.clock.monotonic() - now <= 1_000]).toEqual([4, true]);
  });
});
