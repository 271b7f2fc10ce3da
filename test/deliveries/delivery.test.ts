import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { DeliveryRecord } from '../../server/store/commands/deliveries.ts';
import { engines, onServer } from '../store/engines.ts';
import { now, TaskHarness } from '../tasks/harness.ts';
import { done, Outbox, secret, videoUrl } from './outbox.ts';
import { Receiver, signatureOf } from './receiver.ts';

describe.each(engines)('callback deliveries on %s', (engine) => {
  let outbox: Outbox;
  let receiver: Receiver;
  let other: Receiver;
  TaskHarness.eachTest(engine, (rig) => {
    outbox = new Outbox(rig);
  });
  beforeEach(async () => {
    receiver = await Receiver.start();
    other = await Receiver.start();
  });
  afterEach(async () => {
    await outbox.close();
    await Promise.all([receiver.close(), other.close()]);
  });

  const eventually = (check: () => void | Promise<void>) =>
    vi.waitFor(check, { timeout: 10_000, interval: 10 });
  const running = { state: 'in_progress', progress: 40 } as const;
  const statuses = (to = receiver) => to.seen.map(({ body }) => body.status);

  describe('report', () => {
    test('each state change with the task as of that change', async () => {
      const task = await outbox.submit(receiver.url('/hook?token=9f2c'));
      expect(await outbox.deliver()).toBe(1);
      await outbox.reach(running);
      expect(await outbox.deliver()).toBe(1);
      await outbox.reach({ ...running, progress: 70 });
      expect(await outbox.deliver()).toBe(0);
      await outbox.reach(done);
      expect(await outbox.deliver()).toBe(1);
      const common = { id: task.id, model: task.model, created_at: now / 1_000 };
      expect(receiver.seen.map(({ body }) => body)).toEqual([
        { ...common, status: 'queued', error: null, updated_at: now / 1_000 },
        { ...common, status: 'running', error: null, updated_at: now / 1_000 + 60 },
        {
          ...common,
          status: 'succeeded',
          error: null,
          content: { video_url: videoUrl },
          video_url: videoUrl,
          outputs: [videoUrl],
          seed: 42,
          updated_at: now / 1_000 + 180,
          usage: { cost: 40 },
        },
      ]);
      for (const { path, headers, text } of receiver.seen) {
        expect(path).toBe('/hook?token=9f2c');
        expect(headers['content-type']).toBe('application/json');
        expect(text).not.toMatch(/up-1|upstream|scripted|"one"/);
      }
      expect(await outbox.rows()).toMatchObject(
        ['queued', 'in_progress', 'completed'].map((state) => ({ state, outcome: 'delivered', tries: 0 })),
      );
    });

    test('state changes in order, each with the task as of that change, after a delay', async () => {
      await outbox.submit(receiver.url());
      await outbox.reach(running);
      await outbox.reach({ state: 'failed', error: { code: 'Sensitive', message: 'No.' } });
      for (const count of [1, 2, 3]) {
        expect(await outbox.deliver()).toBe(1);
        expect(receiver.seen).toHaveLength(count);
      }
      expect(
        receiver.seen.map(({ body: { status, error, updated_at } }) => [status, error, updated_at]),
      ).toEqual([
        ['queued', null, now / 1_000],
        ['running', null, now / 1_000 + 60],
        ['failed', { code: 'Sensitive', message: 'No.' }, now / 1_000 + 120],
      ]);
      expect(new Set(receiver.seen.map(({ id }) => id)).size).toBe(3);
    });

    test('only states that the task had', async () => {
      outbox.rig.driver.onSubmit = (task) => ({ ...outbox.rig.driver.make(task), state: 'in_progress' });
      await outbox.submit(receiver.url());
      await outbox.reach(done);
      await outbox.deliver();
      await outbox.deliver();
      expect(statuses()).toEqual(['running', 'succeeded']);
    });

    test('an expired task', async () => {
      await outbox.submit(receiver.url(), { lifetimeMs: 1_000 });
      await outbox.deliver();
      await outbox.reach({ state: 'queued' });
      await outbox.deliver();
      expect(statuses()).toEqual(['queued', 'expired']);
    });

    test('no cancellation', async () => {
      const task = await outbox.submit(receiver.url());
      await outbox.deliver();
      await outbox.rig.tasks.cancel(outbox.rig.name(task, { format: 'official' }));
      expect(await outbox.deliver()).toBe(0);
      expect(statuses()).toEqual(['queued']);
    });

    test.each([
      [{ format: 'official' }, ['queued', 'in_progress', 'completed']],
      [{ format: 'generic', driver: 'official' }, ['queued', 'in_progress', 'completed']],
      [{ format: 'videos', driver: 'official' }, ['queued', 'in_progress', 'completed']],
      [{ format: 'videos' }, []],
      [{ format: 'native' }, []],
      [{ format: 'music' }, ['completed']],
      [{ format: 'image' }, ['in_progress', 'completed']],
    ] as const)('for %o only %o', async (change, states) => {
      const { driver } = outbox.rig;
      const tasks = outbox.rig.engine({
        drivers: new Map(['scripted', 'official'].map((name) => [name, driver])),
      });
      await tasks.submit(outbox.rig.order({ ...change, callbackUrl: receiver.url() }));
      for (const snapshot of [running, done]) {
        driver.onPoll = () => snapshot;
        await outbox.rig.step(60_000, tasks);
      }
      expect((await outbox.rows()).map(({ state }) => state)).toEqual(states);
    });

    test('nothing without a callback URL', async () => {
      await outbox.rig.submit({ format: 'official' });
      await outbox.reach(done);
      expect(await outbox.rows()).toEqual([]);
    });

    test('nothing about a task that its owner has removed', async () => {
      const task = await outbox.submit(receiver.url());
      await outbox.reach(done);
      await outbox.rig.tasks.remove(outbox.rig.name(task, { format: 'official' }));
      while ((await outbox.deliver()) > 0);
      expect(receiver.seen).toEqual([]);
      expect((await outbox.rows()).map(({ outcome }) => outcome)).toEqual(['given_up', 'given_up']);
    });
  });

  describe('signatures', () => {
    test('cover the id, the time of the attempt and the body', async () => {
      await outbox.submit(receiver.url());
      receiver.answer = 500;
      await outbox.deliver(500);
      await outbox.deliver(10_000);
      const [first, second] = receiver.seen;
      expect(first?.id).toMatch(/^msg_[0-9a-z_]+$/);
      expect(second?.id).toBe(first?.id);
      expect(receiver.seen.map(({ timestamp }) => timestamp)).toEqual([
        String(now / 1_000),
        String(now / 1_000 + 10),
      ]);
      for (const delivery of receiver.seen) {
        const webhook = new Webhook(secret, { format: 'raw' });
        expect(delivery.headers['webhook-signature']).toBe(signatureOf(delivery, webhook));
        expect(JSON.stringify(delivery.headers)).not.toContain(secret);
      }
    });

    test('use the decoded key of a whsec_ secret', async () => {
      const secret = `whsec_${Buffer.from('24 bytes or a few more..').toString('base64')}`;
      await outbox.submit(receiver.url());
      await outbox.another({ secret }).runDue();
      const [delivery] = receiver.seen;
      expect(delivery?.headers['webhook-signature']).toBe(
        delivery && signatureOf(delivery, new Webhook(secret)),
      );
    });

    test('are absent without a secret', async () => {
      await outbox.submit(receiver.url());
      await outbox.another({ secret: undefined }).runDue();
      expect(receiver.seen[0]?.headers).toMatchObject({ 'webhook-id': expect.any(String) });
      expect(receiver.seen[0]?.headers).not.toHaveProperty('webhook-signature');
    });
  });

  describe('without acknowledgment', () => {
    test('are retried for a day, then given up, and the next delivery of the task starts', async () => {
      const task = await outbox.submit(receiver.url('/hook?token=9f2c'));
      receiver.answer = 503;
      await outbox.reach(done);
      const pauses = [10_000, 60_000, 600_000, 1_800_000, ...Array<number>(24).fill(3_600_000)];
      for (const pause of [0, ...pauses]) {
        if (pause > 0) expect(await outbox.deliver(pause - 1)).toBe(0);
        expect(await outbox.deliver(Math.min(pause, 1))).toBe(1);
      }
      expect(pauses.reduce((sum, pause) => sum + pause)).toBeGreaterThan(24 * 3_600_000);
      expect(statuses()).toEqual(Array(29).fill('queued'));
      expect(new Set(receiver.seen.map(({ id }) => id)).size).toBe(1);
      expect(outbox.log).toEqual([
        {
          level: 40,
          task: task.id,
          host: `127.0.0.1:${receiver.port}`,
          state: 'queued',
          tries: 29,
          reason: 'status 503',
          msg: 'a callback delivery was given up',
        },
      ]);
      receiver.answer = 200;
      expect(await outbox.deliver()).toBe(1);
      expect(statuses().at(-1)).toBe('succeeded');
      expect(await outbox.rows()).toMatchObject([
        { outcome: 'given_up', tries: 29 },
        { outcome: 'delivered', tries: 0 },
      ]);
      expect(await outbox.deliver(3_600_000)).toBe(0);
    });

    test.each([301, 302, 303, 307, 308])('status %i: the redirect is not followed', async (status) => {
      receiver.answer = (_delivery, response) => {
        response.writeHead(status, { location: other.url() }).end();
      };
      await outbox.submit(receiver.url());
      await outbox.deliver();
      await outbox.deliver(10_000);
      expect([receiver.seen.length, other.seen.length]).toEqual([2, 0]);
      expect(await outbox.rows()).toMatchObject([{ outcome: null, tries: 2 }]);
    });

    test.each([
      [304, null],
      [400, null],
      [410, null],
      [500, null],
      [200, 'delivered'],
      [202, 'delivered'],
      [204, 'delivered'],
      [299, 'delivered'],
    ])('status %i: outcome %s', async (status, outcome) => {
      receiver.answer = status;
      await outbox.submit(receiver.url());
      await outbox.deliver();
      expect(await outbox.rows()).toMatchObject([{ outcome }]);
    });

    test('a broken or refused connection counts as an attempt', async () => {
      receiver.answer = (_delivery, response) => response.destroy();
      await outbox.submit(receiver.url());
      const gone = await Receiver.start();
      await gone.close();
      await outbox.submit(`http://127.0.0.1:1/`);
      expect(await outbox.deliver()).toBe(2);
      expect(await outbox.rows()).toMatchObject([{ tries: 1 }, { tries: 1 }]);
    });

    test('a task that cannot be rendered is not sent and does not block the next delivery', async () => {
      const broken = outbox.another({
        render: ({ state }) => {
          if (state === 'queued') throw new Error('a bug');
          return { id: '', status: state };
        },
        timing: { pausesMs: [] },
      });
      await outbox.submit(receiver.url());
      await outbox.reach(done);
      await broken.runDue();
      await broken.runDue();
      expect(statuses()).toEqual(['completed']);
    });
  });

  describe('to a receiver that does not respond', () => {
    const silent = () => {};

    test('time out after 5 s and do not delay other deliveries', async () => {
      receiver.answer = silent;
      await outbox.submit(receiver.url());
      await outbox.submit(other.url());
      const delivered = outbox.deliver();
      await eventually(async () => {
        expect(receiver.seen).toHaveLength(1);
        expect(await outbox.rows()).toMatchObject([{ outcome: null }, { outcome: 'delivered' }]);
      });
      await outbox.rig.advance(4_999);
      expect(await outbox.rows()).toMatchObject([{ tries: 0 }, {}]);
      await outbox.rig.advance(1);
      await delivered;
      expect(await outbox.rows()).toMatchObject([{ tries: 1, next_try_at: now + 15_000 }, {}]);
    });

    test('are acknowledged by the status, even if the body never ends', async () => {
      receiver.answer = (_delivery, response) => {
        response.writeHead(200).write('{');
      };
      await outbox.submit(receiver.url());
      const delivered = outbox.deliver();
      await eventually(() => expect(receiver.seen).toHaveLength(1));
      await outbox.rig.advance(5_000);
      await delivered;
      expect(await outbox.rows()).toMatchObject([{ outcome: 'delivered' }]);
    });

    test('are limited per host, so that other hosts get slots', async () => {
      receiver.answer = silent;
      const deliveries = outbox.another({ limits: { total: 8, perHost: 4 } });
      for (let made = 0; made < 6; made += 1) await outbox.submit(receiver.url());
      for (let made = 0; made < 3; made += 1) await outbox.submit(other.url());
      await deliveries.start();
      await outbox.rig.advance(0);
      const bothReached = async () => {
        await outbox.rig.advance(10);
        expect([receiver.seen.length, other.seen.length]).toEqual([2, 3]);
      };
      await eventually(bothReached);
      // After a timeout the slots are free for other deliveries.
      await eventually(async () => {
        await outbox.rig.advance(1_000);
        expect(receiver.seen.length).toBeGreaterThanOrEqual(6);
      });
      const tries = Map.groupBy(receiver.seen, ({ id }) => id);
      expect(tries.size).toBe(6);
    });

    test('are released to other gateways when the gateway stops', async () => {
      receiver.answer = silent;
      await outbox.submit(receiver.url());
      const delivered = outbox.deliver();
      await eventually(() => expect(receiver.seen).toHaveLength(1));
      const stopped = outbox.deliveries.stop(1_000);
      await outbox.rig.advance(1_000);
      await Promise.all([stopped, delivered]);
      expect(await outbox.rows()).toMatchObject([
        { outcome: null, tries: 0, lease_owner: null, next_try_at: now + 1_000 },
      ]);
      receiver.answer = 200;
      expect(await outbox.another().runDue()).toBe(1);
      expect(await outbox.rows()).toMatchObject([{ outcome: 'delivered' }]);
    });
  });

  describe('when private addresses are not allowed', () => {
    test.each(['127.0.0.1', 'localhost', '[::1]', '2130706433', '[::ffff:7f00:1]'])(
      'do not connect to %s',
      async (host) => {
        const guarded = outbox.another({ allowPrivate: false, timing: { pausesMs: [] } });
        const task = await outbox.submit(`http://${host}:${receiver.port}/hook?token=9f2c`);
        expect(await guarded.runDue()).toBe(1);
        expect(receiver.seen).toEqual([]);
        expect(await outbox.rows()).toMatchObject([{ outcome: 'given_up' }]);
        expect(outbox.log).toMatchObject([{ task: task.id, reason: 'private address' }]);
        expect(JSON.stringify(outbox.log)).not.toMatch(/hook|9f2c/);
      },
    );
  });

  describe('a started outbox', () => {
    test('delivers on wake, retries by its own timer, and then sends the next state at once', async () => {
      receiver.answer = 500;
      const { rig, deliveries } = outbox;
      await deliveries.start();
      await rig.advance(1_000);
      await outbox.submit(receiver.url());
      await outbox.reach(done);
      deliveries.wake();
      const attempted = (count: number) => async () => {
        await rig.advance(10);
        expect(receiver.seen).toHaveLength(count);
        expect((await outbox.rows())[0]).toMatchObject({ lease_owner: null });
      };
      await eventually(attempted(1));
      receiver.answer = 200;
      await rig.advance(10_000);
      await eventually(attempted(3));
      expect(statuses()).toEqual(['queued', 'queued', 'succeeded']);
    });

    test('leaves a claimed delivery to its owner and records only the latest claim', async () => {
      const { store } = outbox.rig;
      const task = await outbox.submit(receiver.url());
      const one = { total: 1, perUser: 1, perHost: 1 };
      const claim = (owner: string) =>
        store.run('claimDeliveries', { owner, now, until: now + 9, limits: one, running: [] });
      const record = ({ id, attempt, tries }: DeliveryRecord) =>
        store.run('recordDelivery', {
          id,
          taskId: task.id,
          attempt,
          tries: tries + 1,
          answer: 200,
          next: { outcome: 'delivered' },
          now,
        });
      const [first] = (await claim('one')).deliveries;
      expect(await outbox.rows()).toMatchObject([{ lease_owner: 'one', next_try_at: now + 9, attempt: 1 }]);
      expect(await claim('two')).toEqual({ deliveries: [], nextDueAt: null });
      // The first gateway was removed, and the second one has claimed the delivery.
      expect(await store.run('releaseDeliveries', { owner: 'one', now })).toBe(1);
      const [second] = (await claim('two')).deliveries;
      if (first === undefined || second === undefined) throw new Error('no delivery was claimed');
      expect(await record(first)).toBe(false);
      expect(await outbox.rows()).toMatchObject([
        { lease_owner: 'two', outcome: null, tries: 0, attempt: 3 },
      ]);
      expect(await record(second)).toBe(true);
      expect(await outbox.rows()).toMatchObject([{ lease_owner: null, outcome: 'delivered', tries: 1 }]);
    });

    test('does not claim deliveries of a host that another gateway has claimed', async () => {
      const [first, second] = [await outbox.submit(receiver.url()), await outbox.submit(receiver.url())];
      const claim = async (owner: string, total: number) => {
        const lease = { owner, now, until: now, running: [] };
        const limits = { total, perUser: 9, perHost: 9 };
        const { deliveries } = await outbox.rig.store.run('claimDeliveries', { ...lease, limits });
        return deliveries.map(({ taskId }) => taskId);
      };
      const taken = await claim('one', 1);
      // A claimed delivery is due again when its claim expires, but only for its owner.
      const rest = [first.id, second.id].filter((id) => !taken.includes(id));
      expect([taken.length, await claim('two', 9), await claim('three', 9)]).toEqual([1, rest, []]);
      expect(await claim('one', 9)).toEqual(taken);
    });

    test('resumes deliveries of a gateway that was killed', async () => {
      const { rig, deliveries } = outbox;
      await outbox.submit(receiver.url());
      const lease = { owner: 'lost', now, until: now + 20_000 };
      await rig.store.run('claimDeliveries', {
        ...lease,
        limits: { total: 1, perUser: 1, perHost: 1 },
        running: [],
      });
      await deliveries.start();
      // An expired claim stays with its owner while that gateway may be alive.
      await rig.advance(3_600_000);
      expect(receiver.seen).toEqual([]);
      expect(await rig.releaseOrphans()).toBe(1);
      deliveries.wake();
      await eventually(async () => {
        await rig.advance(1_000);
        expect(await outbox.rows()).toMatchObject([{ outcome: 'delivered' }]);
      });
      expect(statuses()).toEqual(['queued']);
    });
  });

  if (engine === 'postgres')
    test('a delivery that is added while the previous one closes is sent next', async () => {
      await outbox.submit(receiver.url());
      await onServer(async (client) => {
        await client.query(`set search_path = ${outbox.rig.testStore.options.schema}`);
        await client.query('begin');
        await client.query('update tasks set progress = 1');
        await client.query(`insert into deliveries (task_id, user_id, state, host, changed_at, tries, attempt)
        select task_id, user_id, 'in_progress', host, changed_at, 0, 0 from deliveries`);
        const delivered = outbox.deliver();
        // The delivery has ended, and its record waits for the lock of the task row.
        const blocked =
          'select pid from pg_stat_activity where pg_backend_pid() = any (pg_blocking_pids(pid))';
        await eventually(async () => expect((await client.query(blocked)).rows).toHaveLength(1));
        await client.query('commit');
        await delivered;
      });
      expect(await outbox.rows()).toMatchObject([
        { outcome: 'delivered' },
        { outcome: null, next_try_at: now },
      ]);
    });

  if (engine === 'postgres')
    test('a delivery that is claimed while the previous one is resent stays with its claim', async () => {
      const { store } = outbox.rig;
      await outbox.submit(receiver.url());
      await outbox.reach(running);
      await outbox.deliver();
      const [first, second] = await outbox.rows();
      await onServer(async (client) => {
        await client.query(`set search_path = ${outbox.rig.testStore.options.schema}`);
        await client.query('begin');
        await client.query(
          `update deliveries set lease_owner = 'other', next_try_at = 7 where id = ${Number(second?.id)}`,
        );
        const { id: tokenId, userId } = outbox.rig.token;
        const change = { userId, tokenId, action: 'resendDelivery', subject: 'delivery 1', details: {}, now };
        const resent = store.run('resendDelivery', { id: Number(first?.id), now, change });
        const blocked =
          'select pid from pg_stat_activity where pg_backend_pid() = any (pg_blocking_pids(pid))';
        await eventually(async () => expect((await client.query(blocked)).rows).toHaveLength(1));
        await client.query('commit');
        expect(await resent).toBe('resent');
      });
      expect(await outbox.rows()).toMatchObject([
        { next_try_at: null, outcome: null },
        { next_try_at: 7, lease_owner: 'other' },
      ]);
    });

  test('concurrent outboxes deliver each delivery once', async () => {
    const count = 30;
    for (let made = 0; made < count; made += 1) await outbox.submit(made % 2 ? receiver.url() : other.url());
    await outbox.reach(done);
    const all = [outbox.deliveries, outbox.another(), outbox.another()];
    for (let round = 0; round < 20; round += 1) await Promise.all(all.map((one) => one.runDue()));
    const seen = [...receiver.seen, ...other.seen];
    expect(seen).toHaveLength(2 * count);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(2 * count);
    for (const states of Object.values({ ...receiver.statesByTask(), ...other.statesByTask() }))
      expect(states).toEqual(['queued', 'succeeded']);
  });

  test('closed deliveries are deleted after one day', async () => {
    await outbox.submit(receiver.url());
    await outbox.deliver();
    receiver.answer = 500;
    await outbox.submit(receiver.url());
    const day = 86_400_000;
    outbox.rig.clock.jump(day - 1);
    expect(await outbox.deliveries.runHousekeeping()).toBe(0);
    outbox.rig.clock.jump(1);
    expect(await outbox.deliveries.runHousekeeping()).toBe(1);
    expect(await outbox.rows()).toMatchObject([{ outcome: null }]);
  });
});
