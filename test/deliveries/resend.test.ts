import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { engines } from '../store/engines.ts';
import { now, TaskHarness } from '../tasks/harness.ts';
import { done, Outbox } from './outbox.ts';
import { Receiver } from './receiver.ts';

describe.each(engines)('a resent delivery on %s', (engine) => {
  let outbox: Outbox;
  let receiver: Receiver;
  TaskHarness.eachTest(engine, (rig) => {
    outbox = new Outbox(rig);
  });
  beforeEach(async () => {
    receiver = await Receiver.start();
  });
  afterEach(async () => {
    await outbox.close();
    await receiver.close();
  });

  const running = { state: 'in_progress', progress: 40 } as const;
  const resend = (id: number) =>
    outbox.rig.store.run('resendDelivery', {
      id,
      now: outbox.rig.clock.monotonic(),
      change: {
        userId: 1,
        tokenId: 2,
        action: 'resendDelivery',
        subject: `delivery ${id}`,
        details: {},
        now,
      },
    });
  const recorded = async (id: number) =>
    (
      await outbox.rig.store.read
        .selectFrom('changes')
        .select('id')
        .where('subject', '=', `delivery ${id}`)
        .execute()
    ).length;
  const shown = async () =>
    (await outbox.rows()).map(({ state, outcome, next_try_at: due }) => [
      state,
      outcome,
      due === null ? null : due - outbox.rig.clock.monotonic(),
    ]);
  const statuses = () => receiver.seen.map(({ body }) => body.status);
  const idOf = async (state: string) =>
    (await outbox.rows()).find((row) => row.state === state)?.id ?? Number.NaN;

  /** Submits a task and delivers its three state changes. */
  const deliverAll = async () => {
    const task = await outbox.submit(receiver.url());
    await outbox.reach(running);
    await outbox.reach(done);
    for (let turn = 0; turn < 3; turn += 1) await outbox.deliver();
    expect(statuses()).toEqual(['queued', 'running', 'succeeded']);
    return task;
  };

  test('has the id and the task state of the first delivery', async () => {
    await deliverAll();
    const id = await idOf('in_progress');
    outbox.rig.clock.jump(1_000);
    expect(await resend(id)).toBe('resent');
    expect(await outbox.deliver()).toBe(1);
    expect(statuses()).toEqual(['queued', 'running', 'succeeded', 'running']);
    expect(receiver.seen[3]?.id).toBe(receiver.seen[1]?.id);
    expect(receiver.seen[3]?.body).toEqual(receiver.seen[1]?.body);
    expect(await recorded(id)).toBe(1);
    expect(await outbox.deliver(100_000_000)).toBe(0);
  });

  test('that was given up starts its schedule again', async () => {
    receiver.answer = 503;
    await outbox.submit(receiver.url());
    for (let day = 0; day < 40; day += 1) await outbox.deliver(3_600_000);
    const id = await idOf('queued');
    expect(await outbox.rows()).toMatchObject([{ outcome: 'given_up', last_status: 503, last_error: null }]);
    expect(await resend(id)).toBe('resent');
    expect(await outbox.deliver()).toBe(1);
    expect(await outbox.rows()).toMatchObject([
      { outcome: null, tries: 1, last_status: 503, last_try_at: outbox.rig.clock.monotonic() },
    ]);
    expect(await shown()).toEqual([['queued', null, 10_000]]);
    receiver.answer = 204;
    await outbox.deliver(10_000);
    expect(await outbox.rows()).toMatchObject([{ outcome: 'delivered', tries: 1, last_status: 204 }]);
  });

  test('that is still open is sent before it is due, and the last error is recorded', async () => {
    const gone = receiver.url();
    await receiver.close();
    const task = await outbox.submit(gone);
    await outbox.deliver();
    const id = await idOf('queued');
    expect(await outbox.rows()).toMatchObject([
      { task_id: task.id, tries: 1, last_status: null, last_error: 'ECONNREFUSED' },
    ]);
    expect(await outbox.deliver(1_000)).toBe(0);
    expect(await resend(id)).toBe('resent');
    expect(await outbox.deliver()).toBe(1);
    // Earlier attempts still count.
    expect(await outbox.rows()).toMatchObject([{ tries: 2 }]);
    receiver = await Receiver.start();
  });

  test('follows an earlier delivery that is still open', async () => {
    receiver.answer = 503;
    await outbox.submit(receiver.url());
    await outbox.deliver();
    outbox.rig.driver.onPoll = () => running;
    await outbox.rig.step(1_000);
    receiver.answer = 200;
    expect(await outbox.deliver()).toBe(0);
    expect(await resend(await idOf('in_progress'))).toBe('resent');
    expect(await outbox.deliver()).toBe(1);
    expect(await outbox.deliver()).toBe(1);
    expect(statuses()).toEqual(['queued', 'queued', 'running']);
  });

  test('is sent in the order of the states, whatever the order of the requests', async () => {
    await deliverAll();
    receiver.seen.length = 0;
    for (const state of ['completed', 'queued', 'in_progress']) await resend(await idOf(state));
    expect((await shown()).map(([, , due]) => due)).toEqual([0, null, null]);
    for (let turn = 0; turn < 3; turn += 1) expect(await outbox.deliver()).toBe(1);
    expect(statuses()).toEqual(['queued', 'running', 'succeeded']);
    expect((await outbox.rows()).map(({ outcome }) => outcome)).toEqual(Array(3).fill('delivered'));
  });

  test.each([200, 503])('follows a later delivery in flight that gets %i', async (status) => {
    await outbox.submit(receiver.url());
    await outbox.deliver();
    await outbox.reach(running);
    let answer = () => {};
    receiver.answer = (_delivery, response) => {
      answer = () => void response.writeHead(status).end();
    };
    const first = outbox.deliver();
    await vi.waitFor(() => expect(receiver.seen).toHaveLength(2), 10_000);
    expect(await resend(await idOf('queued'))).toBe('resent');
    expect((await shown())[0]).toEqual(['queued', null, null]);
    expect(await outbox.deliver()).toBe(0);
    receiver.answer = 200;
    answer();
    await first;
    for (let turn = 0; turn < 3; turn += 1) await outbox.deliver();
    const again = status === 200 ? [] : ['running'];
    expect(statuses()).toEqual(['queued', 'running', 'queued', ...again]);
    expect((await outbox.rows()).map(({ outcome }) => outcome)).toEqual(['delivered', 'delivered']);
  });

  test('follows a later delivery whose gateway was removed before the response', async () => {
    await outbox.submit(receiver.url());
    await outbox.deliver();
    await outbox.reach(running);
    const { rig } = outbox;
    const limits = { total: 9, perUser: 9, perHost: 9 };
    const lease = { owner: 'gone', until: rig.clock.monotonic() + 20_000, limits, running: [] };
    const claim = { ...lease, now: rig.clock.monotonic() };
    expect((await rig.store.run('claimDeliveries', claim)).deliveries).toHaveLength(1);
    expect(await resend(await idOf('queued'))).toBe('resent');
    expect(await outbox.deliver()).toBe(0);
    expect(await rig.releaseOrphans()).toBe(1);
    for (let turn = 0; turn < 2; turn += 1) expect(await outbox.deliver()).toBe(1);
    expect(await outbox.deliver()).toBe(0);
    expect(statuses()).toEqual(['queued', 'running', 'queued']);
    expect((await outbox.rows()).map(({ outcome }) => outcome)).toEqual(['delivered', 'delivered']);
  });

  test('never runs beside another one of its task, with concurrent requests and two gateways', async () => {
    await deliverAll();
    const other = outbox.another();
    const ids = (await outbox.rows()).map(({ id }) => id);
    let atOnce = 0;
    let most = 0;
    receiver.answer = (_delivery, response) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      setImmediate(() => {
        atOnce -= 1;
        response.writeHead(atOnce % 2 === 0 ? 200 : 503).end();
      });
    };
    for (let turn = 0; turn < 15; turn += 1) {
      const [one = 0, two = 0, three = 0] = ids;
      await Promise.all([
        resend(three),
        outbox.deliver(),
        resend(one),
        other.runDue(),
        resend(two),
        resend(one),
        outbox.deliveries.runDue(),
      ]);
    }
    expect(most).toBe(1);
    receiver.answer = 200;
    for (let turn = 0; turn < 4; turn += 1) await outbox.deliver(3_600_000);
    expect((await outbox.rows()).map(({ outcome }) => outcome)).toEqual(Array(3).fill('delivered'));
  });

  test('is refused for an unknown id and for a deleted task', async () => {
    const { id, userId, format } = { ...(await deliverAll()), format: 'official' as const };
    expect(await resend(4_711)).toBe('not_found');
    expect(await recorded(4_711)).toBe(0);
    const delivery = await idOf('queued');
    await outbox.rig.store.run('removeTask', { id, userId, format });
    expect(await resend(delivery)).toBe('not_found');
    expect(await recorded(delivery)).toBe(0);
    expect(await outbox.deliver(1_000)).toBe(0);
  });

  test('is not deleted by housekeeping, however long ago it was closed', async () => {
    await deliverAll();
    outbox.rig.clock.jump(90_000_000);
    const id = await idOf('completed');
    await Promise.all([resend(id), outbox.deliveries.runHousekeeping()]);
    const left = (await outbox.rows()).map((row) => row.id);
    // Either housekeeping ran first and deleted all, or the delivery is open and kept.
    if ((await recorded(id)) === 1) expect(left).toEqual([id]);
    else expect(left).toEqual([]);
  });
});
