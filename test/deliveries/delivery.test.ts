import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { DeliveryRecord } from '../../server/store/commands/deliveries.ts';
import { engines, onServer } from '../store/engines.ts';
import { now, TaskHarness } from '../tasks/harness.ts';
import { done, Outbox, secret, videoUrl } from './outbox.ts';
import { Receiver, signatureOf } from './receiver.ts';

describe.each(engines)('deliveries on %s', (engine) => {
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

  describe('tell', () => {
    test('each change of state, with the task as it is then', async () => {
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

    test('each change in its turn, and as it was, when nobody could be told meanwhile', async () => {
      await outbox.submit(receiver.url());
      await outbox.reach(running);
      await outbox.reach({ state: 'failed', error: { code: 'Sensitive', message: 'No.' } });
      for (const told of [1, 2, 3]) {
        expect(await outbox.deliver()).toBe(1);
        expect(receiver.seen).toHaveLength(told);
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

    test('only the states it was seen in', async () => {
      outbox.rig.driver.onSubmit = (task) => ({ ...outbox.rig.driver.make(task), state: 'in_progress' });
      await outbox.submit(receiver.url());
      await outbox.reach(done);
      await outbox.deliver();
      await outbox.deliver();
      expect(statuses()).toEqual(['running', 'succeeded']);
    });

    test('an end by time', async () => {
      await outbox.submit(receiver.url(), { lifetimeMs: 1_000 });
      await outbox.deliver();
      await outbox.reach({ state: 'queued' });
      await outbox.deliver();
      expect(statuses()).toEqual(['queued', 'expired']);
    });

    test('nothing of a cancellation', async () => {
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
    ] as const)('of %o only %o', async (change, states) => {
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

    test('nothing when there is no callback address', async () => {
      await outbox.rig.submit({ format: 'official' });
      await outbox.reach(done);
      expect(await outbox.rows()).toEqual([]);
    });

    test('nothing of a task that its owner has removed', async () => {
      const task = await outbox.submit(receiver.url());
      await outbox.reach(done);
      await outbox.rig.tasks.remove(outbox.rig.name(task, { format: 'official' }));
      while ((await outbox.deliver()) > 0);
      expect(receiver.seen).toEqual([]);
      expect((await outbox.rows()).map(({ outcome }) => outcome)).toEqual(['given_up', 'given_up']);
    });
  });

  describe('are signed', () => {
    test('over id, time of the try and body', async () => {
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

    test('with the key that a whsec_ secret stands for', async () => {
      const secret = `whsec_${Buffer.from('24 bytes or a few more..').toString('base64')}`;
      await outbox.submit(receiver.url());
      await outbox.another({ secret }).runDue();
      const [delivery] = receiver.seen;
      expect(delivery?.headers['webhook-signature']).toBe(
        delivery && signatureOf(delivery, new Webhook(secret)),
      );
    });

    test('not without a secret', async () => {
      await outbox.submit(receiver.url());
      await outbox.another({ secret: undefined }).runDue();
      expect(receiver.seen[0]?.headers).toMatchObject({ 'webhook-id': expect.any(String) });
      expect(receiver.seen[0]?.headers).not.toHaveProperty('webhook-signature');
    });
  });

  describe('that are not acknowledged', () => {
    test('are tried for a day, every hour in the end, then given up; then the next one is', async () => {
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
      receiver.answer = (_notice, response) => {
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
    ])('status %i: %s', async (status, outcome) => {
      receiver.answer = status;
      await outbox.submit(receiver.url());
      await outbox.deliver();
      expect(await outbox.rows()).toMatchObject([{ outcome }]);
    });

    test('a connection that breaks, or is refused', async () => {
      receiver.answer = (_notice, response) => response.destroy();
      await outbox.submit(receiver.url());
      const gone = await Receiver.start();
      await gone.close();
      await outbox.submit(`http://127.0.0.1:1/`);
      expect(await outbox.deliver()).toBe(2);
      expect(await outbox.rows()).toMatchObject([{ tries: 1 }, { tries: 1 }]);
    });

    test('a body that cannot be made is not sent, and does not keep the next from being', async () => {
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

  describe('to a receiver that does not answer', () => {
    const silent = () => {};

    test('are given 5 seconds and hold up nobody else', async () => {
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

    test('are acknowledged by a status, whatever becomes of the body', async () => {
      receiver.answer = (_notice, response) => {
        response.writeHead(200).write('{');
      };
      await outbox.submit(receiver.url());
      const delivered = outbox.deliver();
      await eventually(() => expect(receiver.seen).toHaveLength(1));
      await outbox.rig.advance(5_000);
      await delivered;
      expect(await outbox.rows()).toMatchObject([{ outcome: 'delivered' }]);
    });

    test('are so many at a time, and leave room for the rest', async () => {
      receiver.answer = silent;
      const deliveries = outbox.another({ limits: { total: 8, perHost: 4 } });
      for (let made = 0; made < 6; made += 1) await outbox.submit(receiver.url());
      for (let made = 0; made < 3; made += 1) await outbox.submit(other.url());
      await deliveries.start();
      await outbox.rig.advance(0);
      const told = async () => {
        await outbox.rig.advance(10);
        expect([receiver.seen.length, other.seen.length]).toEqual([2, 3]);
      };
      await eventually(told);
      // Their places are free when they are given up, and others have them.
      await eventually(async () => {
        await outbox.rig.advance(1_000);
        expect(receiver.seen.length).toBeGreaterThanOrEqual(6);
      });
      const tries = Map.groupBy(receiver.seen, ({ id }) => id);
      expect(tries.size).toBe(6);
    });

    test('are left to others when the gateway stops', async () => {
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

  describe('where private addresses are not allowed', () => {
    test.each(['127.0.0.1', 'localhost', '[::1]', '2130706433', '[::ffff:7f00:1]'])(
      'do not reach %s',
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
    test('delivers when it is woken, tries again by its alarm, and tells what follows at once', async () => {
      receiver.answer = 500;
      const { rig, deliveries } = outbox;
      await deliveries.start();
      await rig.advance(1_000);
      await outbox.submit(receiver.url());
      await outbox.reach(done);
      deliveries.wake();
      const told = (count: number) => async () => {
        await rig.advance(10);
        expect(receiver.seen).toHaveLength(count);
        expect((await outbox.rows())[0]).toMatchObject({ lease_owner: null });
      };
      await eventually(told(1));
      receiver.answer = 200;
      await rig.advance(10_000);
      await eventually(told(3));
      expect(statuses()).toEqual(['queued', 'queued', 'succeeded']);
    });

    test('leaves a claim to its owner, and takes what is written of it only from the latest', async () => {
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
      // It was taken for gone, and another has the delivery now.
      expect(await store.run('releaseDeliveries', { owner: 'one', now })).toBe(1);
      const [second] = (await claim('two')).deliveries;
      if (first === undefined || second === undefined) throw new Error('there is a delivery');
      expect(await record(first)).toBe(false);
      expect(await outbox.rows()).toMatchObject([
        { lease_owner: 'two', outcome: null, tries: 0, attempt: 3 },
      ]);
      expect(await record(second)).toBe(true);
      expect(await outbox.rows()).toMatchObject([{ lease_owner: null, outcome: 'delivered', tries: 1 }]);
    });

    test('leaves to another what it has of a host, and takes the rest', async () => {
      const [first, second] = [await outbox.submit(receiver.url()), await outbox.submit(receiver.url())];
      const claim = async (owner: string, total: number) => {
        const lease = { owner, now, until: now, running: [] };
        const limits = { total, perUser: 9, perHost: 9 };
        const { deliveries } = await outbox.rig.store.run('claimDeliveries', { ...lease, limits });
        return deliveries.map(({ taskId }) => taskId);
      };
      const taken = await claim('one', 1);
      // What the first has is due by its own time, too, and is no other's.
      const rest = [first.id, second.id].filter((id) => !taken.includes(id));
      expect([taken.length, await claim('two', 9), await claim('three', 9)]).toEqual([1, rest, []]);
      expect(await claim('one', 9)).toEqual(taken);
    });

    test('goes on with what another was at when it died', async () => {
      const { rig, deliveries } = outbox;
      await outbox.submit(receiver.url());
      const lease = { owner: 'dead', now, until: now + 20_000 };
      await rig.store.run('claimDeliveries', {
        ...lease,
        limits: { total: 1, perUser: 1, perHost: 1 },
        running: [],
      });
      await deliveries.start();
      // However late it is: as long as the other may live, the delivery is its own.
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
    test('one that is added while the one before is being closed follows it', async () => {
      await outbox.submit(receiver.url());
      await onServer(async (client) => {
        await client.query(`set search_path = ${outbox.rig.testStore.options.schema}`);
        await client.query('begin');
        await client.query('update tasks set progress = 1');
        await client.query(`insert into deliveries (task_id, user_id, state, host, changed_at, tries, attempt)
        select task_id, user_id, 'in_progress', host, changed_at, 0, 0 from deliveries`);
        const delivered = outbox.deliver();
        // The delivery is over, and its record waits for the change of the task.
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
    test('one that is claimed while the one before is sent again stays with its claimer', async () => {
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

  test('several at once deliver each delivery once', async () => {
    const count = 30;
    for (let made = 0; made < count; made += 1) await outbox.submit(made % 2 ? receiver.url() : other.url());
    await outbox.reach(done);
    const all = [outbox.deliveries, outbox.another(), outbox.another()];
    for (let round = 0; round < 20; round += 1) await Promise.all(all.map((one) => one.runDue()));
    const seen = [...receiver.seen, ...other.seen];
    expect(seen).toHaveLength(2 * count);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(2 * count);
    for (const told of Object.values({ ...receiver.told(), ...other.told() }))
      expect(told).toEqual(['queued', 'succeeded']);
  });

  test('are forgotten a day after they were closed', async () => {
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
