import { describe, expect, test, vi } from 'vitest';
import { Failure, ProviderFailure } from '../../server/lib/failure.ts';
import { StoreUnavailable } from '../../server/store/availability.ts';
import type { TaskRecord } from '../../server/store/queries/tasks.ts';
import type { Store } from '../../server/store/store.ts';
import { asDriverError, driverErrorForStatus, type Submission } from '../../server/tasks/driver.ts';
import { engines } from '../store/engines.ts';
import { now, TaskHarness } from './harness.ts';
import { driverError } from './scripted-driver.ts';

describe.each(engines)('submitting on %s', (engine) => {
  let rig: TaskHarness;
  TaskHarness.eachTest(engine, (made) => {
    rig = made;
  });

  const both = () => [rig.channel('one'), rig.channel('two')];
  const rows = () => rig.store.read.selectFrom('tasks').selectAll().execute();
  const channelsUsed = () => rig.driver.submitted.map(({ channel }) => channel);

  test('a rejection is returned to the client, refunds the reservation and leaves no task', async () => {
    const rejected = driverError('rejected');
    rig.driver.onSubmit = () => {
      rig.clock.jump(80);
      throw rejected;
    };
    await expect(rig.submit({ channels: both() })).rejects.toBe(rejected.failure);
    expect(channelsUsed()).toEqual(['one']);
    expect(await rows()).toEqual([]);
    expect(await rig.log()).toMatchObject([
      {
        operation: 'createVideo',
        channel: 'one',
        status: 415,
        error_code: 'rejected',
        quota: 0,
        duration_ms: 80,
      },
    ]);
    expect(rig.changes).toEqual([]);
    await rig.expectBalance({});
  });

  test('a retryable error is followed by the next channel', async () => {
    rig.driver.onSubmit = async (task, { channel }) => {
      if (channel.name === 'one') {
        rig.clock.jump(80);
        throw driverError('retryable');
      }
      // The first request counts: from then on a provider may have the task.
      expect(await rig.stored(task)).toMatchObject({
        channel: 'two',
        asked_at: now,
        next_poll_at: now + 135_000,
      });
      return rig.driver.make(task);
    };
    const task = await rig.submit({ channels: both() });
    expect(channelsUsed()).toEqual(['one', 'two']);
    expect(await rig.stored(task)).toMatchObject({ channel: 'two', upstream_id: 'up-1' });
    await rig.expectBalance({ reserved: 50 });
  });

  test('a task that ends while a channel refuses it is not sent to another', async () => {
    rig.driver.onSubmit = async ({ id }) => {
      expect(await rig.tasks.cancel(rig.name({ id }))).toMatchObject({ canceled: true });
      throw driverError('retryable');
    };
    expect(await rig.submit({ channels: both() })).toMatchObject({ error: { code: 'task_canceled' } });
    expect(channelsUsed()).toEqual(['one']);
    await rig.expectBalance({});
  });

  test('a task without cost or of an unlimited key uses no lease', async () => {
    const withLease = vi.fn(async () => undefined);
    const tasks = rig.engine({
      quota: { withLease, withReclaim: (_key, _amount, attempt) => attempt() },
    });
    const { caller } = rig.order();
    await tasks.submit(rig.order({ expectedUnits: 0 }));
    await tasks.submit(rig.order({ caller: { ...caller, unlimited: true } }));
    expect(withLease).not.toHaveBeenCalled();
    await tasks.submit(rig.order());
    expect(withLease).toHaveBeenCalledOnce();
  });

  test('at most three channels get a request for one task', async () => {
    rig.driver.onSubmit = () => {
      throw driverError('retryable');
    };
    const channels = ['one', 'two', 'one', 'two'].map((name) => rig.channel(name));
    await expect(rig.submit({ channels })).rejects.toMatchObject({ code: 'retryable' });
    expect(rig.driver.submitted.map(({ channel }) => channel)).toEqual(['one', 'two', 'one']);
    await rig.expectBalance({});
  });

  test('if no channel accepts the task, the last error is returned', async () => {
    rig.driver.onSubmit = (_task, { channel }) => {
      throw driverErrorForStatus(429, new ProviderFailure(429, channel.name, 'Busy.', { retryAfter: 1 }));
    };
    await expect(rig.submit({ channels: both() })).rejects.toMatchObject({ status: 429, code: 'two' });
    await expect(rig.submit({ channels: [] })).rejects.toMatchObject({
      status: 503,
      code: 'get_channel_failed',
      retryAfter: 1,
    });
    expect(await rows()).toEqual([]);
    await rig.expectBalance({});
  });

  test('an unknown outcome is never repeated', async () => {
    rig.driver.onSubmit = (task) => {
      rig.driver.make(task);
      throw new Error('the connection broke');
    };
    await expect(rig.submit({ channels: both() })).rejects.toMatchObject({ status: 502 });
    expect(channelsUsed()).toEqual(['one']);
    expect(await rows()).toEqual([]);
    await rig.expectBalance({});
  });

  test('a submission interrupted by a crash is dropByPoller and not repeated', async () => {
    const begun = Promise.withResolvers<TaskRecord>();
    rig.driver.onSubmit = (task) => {
      rig.driver.make(task);
      begun.resolve(task);
      return new Promise<Submission>(() => {});
    };
    // Only the claim of the killed process is left.
    void rig.engine({ owner: 'gone' }).submit(rig.order());
    const cutOff = await begun.promise;
    // An expired claim stays with its owner while that gateway may be alive.
    expect(await rig.step(3_600_000)).toBe(0);
    await rig.releaseOrphans();
    await rig.step(0);
    expect(await rig.stored(cutOff)).toMatchObject({ state: 'failed', error_code: 'submission_interrupted' });
    expect(channelsUsed()).toHaveLength(1);
    await rig.expectBalance({});
  });

  test('a submission accepted after its task has ended is canceled upstream', async () => {
    let answer: () => void = () => {};
    rig.driver.onSubmit = (task) =>
      new Promise((resolve) => {
        answer = () => resolve(rig.driver.make(task));
      });
    const submitted = rig.engine().submit(rig.order());
    await rig.settled();
    await rig.releaseOrphans();
    await rig.step(0);
    answer();
    const { task } = await submitted;
    expect(task).toMatchObject({ state: 'failed', error: { code: 'submission_interrupted' } });
    expect(rig.driver.canceled).toEqual(['up-1']);
    await rig.expectBalance({});
  });

  test('no task is lost if the store is unavailable for long after the upstream response', async () => {
    let away = true;
    const tasks = rig.engine({
      store: {
        ...rig.store,
        run: (name, args) =>
          away && name === 'acceptTask'
            ? Promise.reject(new StoreUnavailable('away'))
            : rig.store.run(name, args),
      },
    });
    const submitted = tasks.submit(rig.order());
    await rig.settled();
    // Exactly at the end of the claim, and long after it.
    for (const ms of [135_000, 600_000]) expect(await rig.step(ms, tasks)).toBe(0);
    const other = await tasks.submit({ ...rig.order(), channels: [] }).catch(({ code }) => code);
    expect(other).toBe('get_channel_failed');
    away = false;
    expect((await submitted).task).toMatchObject({ state: 'queued', upstreamId: 'up-1' });
    expect(rig.driver.canceled).toEqual([]);
    expect(await rig.step(1_000, tasks)).toBe(1);
    await rig.expectBalance({ reserved: 50 });
  });

  test('a queued task can be canceled during its submission', async () => {
    let answer: () => void = () => {};
    rig.driver.onSubmit = (task) =>
      new Promise((resolve) => {
        answer = () => resolve(rig.driver.make(task));
      });
    const submitted = rig.submit();
    await rig.settled();
    const [row] = await rows();
    const canceled = await rig.tasks.cancel(rig.name({ id: row?.id ?? '' }));
    expect(canceled).toMatchObject({ canceled: true, task: { error: { code: 'task_canceled' } } });
    answer();
    expect(await submitted).toMatchObject({ state: 'failed', error: { code: 'task_canceled' } });
    expect(rig.driver.canceled).toEqual(['up-1']);
    await rig.expectBalance({});
  });

  test('a cancellation is too late if the upstream accepts the task first', async () => {
    let answer: () => void = () => {};
    rig.driver.onSubmit = (task) =>
      new Promise((resolve) => {
        answer = () => resolve(rig.driver.make(task));
      });
    const submitted = rig.submit();
    await rig.settled();
    const overtaken = rig.engine({
      store: {
        ...rig.store,
        run: (name, args) => {
          if (name !== 'finishTask') return rig.store.run(name, args);
          answer();
          return submitted.then(() => rig.store.run(name, args));
        },
      },
    });
    const [row] = await rows();
    const canceled = await overtaken.cancel(rig.name({ id: row?.id ?? '' }));
    expect(canceled).toMatchObject({ canceled: false, task: { state: 'queued', upstreamId: 'up-1' } });
    await rig.expectBalance({ reserved: 50 });
  });

  test('a provider that never responds times out, and the quota is refunded', async () => {
    rig.driver.onSubmit = () => new Promise(() => {});
    const submitted = rig.submit();
    const outcome = submitted.catch((error: unknown) => error);
    await rig.advance(120_000);
    expect(await outcome).toMatchObject({ status: 504 });
    expect(await rows()).toEqual([]);
    await rig.expectBalance({});
  });

  test('all channels share a limit of two minutes', async () => {
    rig.driver.onSubmit = (_task, { channel }) => {
      if (channel.name === 'two') return new Promise(() => {});
      rig.clock.jump(100_000);
      throw driverError('retryable');
    };
    const outcome = rig.submit({ channels: both() }).catch((error: unknown) => error);
    await rig.settled();
    await rig.advance(19_999);
    expect(await rows()).toHaveLength(1);
    await rig.advance(1);
    expect(await outcome).toMatchObject({ status: 504 });
    expect(channelsUsed()).toEqual(['one', 'two']);
    await rig.expectBalance({});
  });

  test('a throttling channel gets no request of that user for that model until its pause ends', async () => {
    rig.driver.onSubmit = () => {
      throw driverErrorForStatus(429, new Failure(429, 'rate_limit_exceeded', 'Busy.', { retryAfter: 30 }), {
        pauseSeconds: 30,
      });
    };
    await expect(rig.submit()).rejects.toMatchObject({ status: 429, retryAfter: 30 });
    rig.driver.onSubmit = (task) => rig.driver.make(task);
    rig.clock.jump(10_000);
    await expect(rig.submit()).rejects.toMatchObject({
      status: 429,
      code: 'rate_limit_exceeded',
      retryAfter: 20,
    });
    expect(channelsUsed()).toEqual(['one']);
    expect(await rows()).toEqual([]);
    expect(await rig.log()).toMatchObject([{ status: 429 }, { status: 429, channel: 'one', quota: 0 }]);
    const { caller } = rig.order();
    await rig.submit({ model: { id: 'gamma3.0-video-prime', unit: 'seconds' } });
    await rig.submit({ caller: { ...caller, userId: caller.userId + 1 } });
    await rig.submit({ channels: both() });
    rig.clock.jump(20_000);
    await rig.submit();
    expect(channelsUsed()).toEqual(['one', 'one', 'one', 'two', 'one']);
    await rig.expectBalance({ reserved: 200 });
  });

  test('a channel whose submissions fail cools down, and recovers with a success', async () => {
    const { health } = rig.channel('one');
    const fails = () => {
      throw driverErrorForStatus(500, new Failure(502, 'bad_response_status_code', 'Bad.'));
    };
    const succeeds = (task: TaskRecord) => rig.driver.make(task);
    const submit = async (behavior: typeof rig.driver.onSubmit) => {
      rig.driver.onSubmit = behavior;
      rig.clock.jump(2_000);
      await rig.submit().catch(() => {});
      return health.state;
    };
    // A success in between resets the streak.
    for (const behavior of [fails, fails, succeeds, fails, fails])
      expect(await submit(behavior)).toBe('healthy');
    // A rejection of the request does not count against the channel.
    const refuses = () => {
      throw driverError('rejected');
    };
    expect(await submit(refuses)).toBe('healthy');
    expect(await submit(fails)).toBe('resting');
    rig.clock.jump(5_000);
    expect(await submit(succeeds)).toBe('healthy');
  });

  test('a probe that ends before its request leaves the channel open to the next probe', async () => {
    const { health } = rig.channel('one');
    for (const _ of [1, 2, 3]) {
      rig.clock.jump(2_000);
      health.startAttempt().fail('server_error');
    }
    rig.clock.jump(5_000);
    expect(health.isHealthy).toBe(true);
    const broken = rig.engine({
      store: {
        ...rig.store,
        run: (name, args) =>
          name === 'markSubmitted'
            ? Promise.reject(new Error('the disk is full'))
            : rig.store.run(name, args),
      },
    });
    await expect(broken.submit(rig.order({ idempotencyKey: 'k' }))).rejects.toThrow('the disk is full');
    expect(channelsUsed()).toEqual([]);
    expect(health.isHealthy).toBe(true);
  });

  test('the channel of a request is recorded only if it was not known before', async () => {
    const marked = () => rig.commands.filter((name) => name === 'markSubmitted').length;
    await rig.submit();
    expect(marked()).toBe(0);
    rig.driver.onSubmit = (task, { channel }) => {
      if (channel.name === 'one') throw driverError('retryable');
      return rig.driver.make(task);
    };
    await rig.submit({ channels: both() });
    expect(marked()).toBe(1);
    await rig.submit({ channels: both(), idempotencyKey: 'k' });
    expect(marked()).toBe(3);
  });

  test('a failure of a provider is logged, a rejected request is not', async () => {
    rig.driver.onSubmit = (_task, { channel }) => {
      if (channel.name === 'two') throw driverError('rejected');
      throw Object.assign(new Error('no route'), { code: 'ECONNREFUSED' });
    };
    await expect(rig.submit({ channels: both() })).rejects.toMatchObject({ code: 'rejected' });
    const task = rig.driver.submitted[0]?.id;
    expect(rig.lines).toEqual([
      expect.objectContaining({ level: 40, task, channel: 'one', kind: 'retryable', status: 502 }),
    ]);
    expect(rig.lines[0]).toMatchObject({ code: 'do_request_failed', err: { message: 'no route' } });
  });

  test('a key that was just revoked creates no task', async () => {
    const { id, userId } = rig.token;
    const change = { userId, tokenId: id, action: 'revokeToken', details: {}, now };
    await rig.store.run('revokeToken', { id, change });
    await expect(rig.submit()).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
    expect(channelsUsed()).toEqual([]);
    expect(await rows()).toEqual([]);
  });

  test('a request id creates one task', async () => {
    const { requestId } = await rig.submit();
    rig.commands.length = 0;
    await expect(rig.submit({ requestId })).rejects.toThrow(`request id ${requestId} was used before`);
    expect(rig.commands).toEqual(['createTask']);
    await rig.expectBalance({ reserved: 50 });
  });

  describe('with an idempotency key', () => {
    test.each([
      ['other facts', { facts: { seconds: '6' } }],
      ['another model', { model: { id: 'gamma3.0-video-prime', unit: 'seconds' } }],
      ['another operation', { operation: 'createTask' }],
      ['another callback', { callbackUrl: 'https://client.example/hook' }],
    ] as const)('a request with %s is a different request', async (_, change) => {
      await rig.submit({ idempotencyKey: 'k' });
      await expect(rig.submit({ idempotencyKey: 'k', ...change })).rejects.toMatchObject({
        status: 400,
        code: 'idempotency_key_reused',
        message: 'Idempotency-Key: it was used for another request; use a new one for each request.',
      });
    });

    test("a request identified by the client's body is dropByPoller whatever its driver request is", async () => {
      const clientRequest = { prompt: 'one' };
      const order = rig.order({ idempotencyKey: 'k', clientRequest });
      const { task } = await rig.tasks.submit(order);
      const again = { ...order, request: {}, facts: {}, callbackUrl: 'https://client.example/hook' };
      expect(await rig.tasks.submit(again)).toEqual({ task, replayed: true });
      await expect(rig.submit({ idempotencyKey: 'k', clientRequest: {} })).rejects.toMatchObject({
        status: 400,
      });
      const name = { ...order, idempotencyKey: 'k', clientRequest };
      expect(await rig.tasks.findRepeated(name)).toEqual(task);
      for (const change of [
        { idempotencyKey: 'l' },
        { clientRequest: { prompt: 'two' } },
        { operation: 'other' },
        { format: 'generic' as const },
        { model: { id: 'other', unit: 'seconds' as const } },
        { caller: { ...order.caller, userId: order.caller.userId + 1 } },
      ])
        expect(await rig.tasks.findRepeated({ ...name, ...change })).toBeUndefined();
    });

    test('a creation that conflicts with a dropped task is repeated', async () => {
      let conflicts = true;
      const run: Store['run'] = (name, args) => {
        if (!conflicts || name !== 'createTask') return rig.store.run(name, args);
        conflicts = false;
        return Promise.resolve({ outcome: 'duplicate' }) as never;
      };
      const tasks = rig.engine({ store: { ...rig.store, run } });
      expect(await tasks.submit(rig.order({ idempotencyKey: 'k' }))).toMatchObject({ replayed: false });
      await rig.expectBalance({ reserved: 50 });
    });

    test('a task dropped before the request to its provider is reported as dropped', async () => {
      const nothing = Promise.resolve();
      const dropByPoller = async () => {
        await rig.releaseOrphans();
        expect(await rig.step(0)).toBe(1);
      };
      const overtaken = rig.engine({
        owner: 'gone',
        store: {
          ...rig.store,
          run: (name, args) =>
            (name === 'markSubmitted' ? dropByPoller() : nothing).then(() => rig.store.run(name, args)),
        },
      });
      await expect(overtaken.submit(rig.order({ idempotencyKey: 'k' }))).rejects.toMatchObject({
        status: 502,
        code: 'do_request_failed',
        message: 'The task was dropped before the provider had confirmed it.',
      });
      expect(channelsUsed()).toEqual([]);
      expect(await rows()).toEqual([]);
      await rig.expectBalance({});
    });

    test('the same request returns the same task, a different one is refused, other users and formats are independent', async () => {
      const first = await rig.tasks.submit(rig.order({ idempotencyKey: 'k' }));
      const again = await rig.tasks.submit(rig.order({ idempotencyKey: 'k' }));
      expect(again).toEqual({ task: first.task, replayed: true });
      const other = rig.order({ idempotencyKey: 'k', request: { prompt: 'a ship' } });
      await expect(rig.tasks.submit(other)).rejects.toMatchObject({
        status: 400,
        code: 'idempotency_key_reused',
      });
      await rig.submit({ idempotencyKey: 'k', format: 'generic' });
      const { caller } = rig.order();
      await rig.submit({ idempotencyKey: 'k', caller: { ...caller, userId: caller.userId + 1 } });
      expect(rig.driver.upstream.size).toBe(3);
      expect(await rig.reservations()).toHaveLength(3);
    });

    test('a repeated request waits for the first one', async () => {
      let answer: () => void = () => {};
      rig.driver.onSubmit = (task) =>
        new Promise((resolve) => {
          answer = () => resolve(rig.driver.make(task));
        });
      const orders = [1, 2, 3].map(() => rig.tasks.submit(rig.order({ idempotencyKey: 'k' })));
      await rig.settled();
      answer();
      const made = await Promise.all(orders);
      expect(new Set(made.map(({ task }) => task.id)).size).toBe(1);
      expect(made.map(({ task }) => task.upstreamId)).toEqual(['up-1', 'up-1', 'up-1']);
      expect(made.filter(({ replayed }) => replayed)).toHaveLength(2);
      await rig.expectBalance({ reserved: 50 });
    });

    test('two processes create one task', async () => {
      const [left, right] = [rig.engine(), rig.engine()];
      const orders = Array.from({ length: 10 }, (_, index) =>
        (index % 2 === 0 ? left : right).submit(rig.order({ idempotencyKey: 'k' })),
      );
      await rig.advance(1_000);
      const made = await Promise.all(orders);
      expect(new Set(made.map(({ task }) => task.id)).size).toBe(1);
      expect(channelsUsed()).toHaveLength(1);
      await rig.expectBalance({ reserved: 50 });
    });

    /** Starts a submission in another process, which reaches the store or the upstream and then hangs. */
    const begin = async (reach: 'store' | 'upstream') => {
      if (reach === 'upstream') rig.driver.onSubmit = () => new Promise(() => {});
      const run: Store['run'] = (name, args) =>
        name === 'markSubmitted' && reach === 'store' ? new Promise(() => {}) : rig.store.run(name, args);
      void rig
        .engine({ owner: 'gone', store: { ...rig.store, run } })
        .submit(rig.order({ idempotencyKey: 'k' }));
      await rig.settled();
      rig.driver.onSubmit = (task) => rig.driver.make(task);
      const [task] = await rows();
      return task?.id;
    };
    const repeat = () => rig.tasks.submit(rig.order({ idempotencyKey: 'k' }));

    test('a repeated request creates a new task if the first one never reached the upstream', async () => {
      const lost = await begin('store');
      const repeated = Promise.all([repeat(), repeat()]);
      await rig.advance(5_000);
      // The other process may still be submitting.
      expect(channelsUsed()).toEqual([]);
      await rig.releaseOrphans();
      await rig.advance(1_000);
      const made = await repeated;
      expect(made.filter(({ replayed }) => replayed)).toHaveLength(1);
      const [task] = made.map((one) => one.task);
      expect(task).toMatchObject({ state: 'queued', upstreamId: 'up-1' });
      expect((await rows()).map(({ id }) => id)).toEqual([task?.id]);
      expect(task?.id).not.toBe(lost);
      expect(await rig.log()).toMatchObject([{ error_code: 'submission_interrupted', quota: 0 }]);
      await rig.expectBalance({ reserved: 50 });
    });

    test('a repeated request creates a new task after a poller has dropped the first one', async () => {
      await begin('store');
      await rig.releaseOrphans();
      expect(await rig.step(0)).toBe(1);
      expect(await rows()).toEqual([]);
      expect(await repeat()).toMatchObject({ replayed: false, task: { upstreamId: 'up-1' } });
      await rig.expectBalance({ reserved: 50 });
    });

    test.each(['a repeat', 'a poller'])(
      'a task that may have reached the upstream stays failed for every repeated request: %s finds it first',
      async (finder) => {
        const lost = await begin('upstream');
        await rig.releaseOrphans();
        if (finder === 'a poller') expect(await rig.step(0)).toBe(1);
        for (const _ of [1, 2]) {
          expect(await repeat()).toMatchObject({
            replayed: true,
            task: {
              id: lost,
              state: 'failed',
              error: {
                code: 'submission_interrupted',
                message: 'The service was interrupted before the provider had confirmed the task.',
              },
            },
          });
        }
        expect(channelsUsed()).toHaveLength(1);
        await rig.expectBalance({});
      },
    );

    test('a task that may have reached the upstream is not created again after its channel is gone and it expired', async () => {
      const lost = await begin('upstream');
      await rig.releaseOrphans();
      rig.clock.jump(86_400_000);
      const without = rig.engine({ channels: { names: [], named: () => undefined } });
      expect(await without.runHousekeeping()).toEqual({ pruned: 0, expired: 1 });
      expect(await repeat()).toMatchObject({
        replayed: true,
        task: { id: lost, error: { code: 'task_expired' } },
      });
      expect(channelsUsed()).toHaveLength(1);
      await rig.expectBalance({});
    });

    test('a task canceled during its submission releases its key', async () => {
      const answer = Promise.withResolvers<Submission>();
      rig.driver.onSubmit = () => answer.promise;
      const first = repeat();
      await rig.settled();
      const [row] = await rows();
      await rig.tasks.cancel(rig.name({ id: row?.id ?? '' }));
      rig.driver.onSubmit = (task) => rig.driver.make(task);
      expect(await repeat()).toMatchObject({ replayed: false, task: { upstreamId: 'up-1' } });
      answer.resolve({ upstreamId: 'up-0' });
      expect(await first).toMatchObject({ task: { error: { code: 'task_canceled' } } });
      expect(rig.driver.canceled).toEqual(['up-0']);
      await rig.expectBalance({ reserved: 50 });
    });

    test('a repeated request waits for a submission in another process', async () => {
      const answered = Promise.withResolvers<Submission>();
      rig.driver.onSubmit = () => answered.promise;
      const first = rig.engine().submit(rig.order({ idempotencyKey: 'k' }));
      await rig.settled();
      const repeated = repeat();
      await rig.advance(20_000);
      answered.resolve({ upstreamId: 'up' });
      await rig.advance(1_000);
      expect(await repeated).toEqual({ task: (await first).task, replayed: true });
      expect(channelsUsed()).toHaveLength(1);
      await rig.expectBalance({ reserved: 50 });
    });

    test('a repeated request waits for another process at most as long as a submission may take', async () => {
      const lost = await begin('store');
      const slow = rig.engine({ timing: { repeatPollMs: 45_000 } });
      let isReturned = false;
      const repeated = slow.submit(rig.order({ idempotencyKey: 'k' })).finally(() => {
        isReturned = true;
      });
      await rig.settled();
      await rig.advance(134_999);
      expect(isReturned).toBe(false);
      await rig.advance(1);
      expect(isReturned).toBe(true);
      expect(await repeated).toMatchObject({ task: { id: lost, upstreamId: null }, replayed: true });
      expect(channelsUsed()).toEqual([]);
    });

    test('a gateway that stops waits for a repeated request, which polls once after the grace period', async () => {
      const lost = await begin('store');
      const tasks = rig.engine();
      const over: string[] = [];
      const repeated = tasks.submit(rig.order({ idempotencyKey: 'k' })).finally(() => over.push('repeat'));
      await rig.settled();
      await rig.advance(100);
      void tasks.stop(1_000).then(() => over.push('stop'));
      await rig.advance(1_149);
      expect(over).toEqual([]);
      await rig.advance(1);
      expect(over).toEqual(['repeat', 'stop']);
      expect(await repeated).toMatchObject({ task: { id: lost, state: 'queued' }, replayed: true });
    });

    test('a repeated request is submitted if the one of another process is refused', async () => {
      const answered = Promise.withResolvers<Submission>();
      rig.driver.onSubmit = () => answered.promise;
      const first = rig.engine().submit(rig.order({ idempotencyKey: 'k' }));
      const outcome = first.catch((error: unknown) => error);
      await rig.settled();
      const repeated = repeat();
      await rig.settled();
      rig.driver.onSubmit = (task) => rig.driver.make(task);
      answered.reject(driverError('rejected'));
      await rig.advance(1_000);
      expect(await outcome).toMatchObject({ code: 'rejected' });
      expect(await repeated).toMatchObject({ replayed: false, task: { upstreamId: 'up-1' } });
      await rig.expectBalance({ reserved: 50 });
    });

    test('a task whose creation response was lost is dropByPoller by a repeated request to the same process', async () => {
      const lost = rig.engine({
        store: {
          ...rig.store,
          run: (name, args) => {
            const result = rig.store.run(name, args);
            if (name !== 'createTask' || !isLost) return result;
            return result.then(() => Promise.reject(new Error('the connection broke')));
          },
        },
      });
      let isLost = true;
      await expect(lost.submit(rig.order({ idempotencyKey: 'k' }))).rejects.toThrow('the connection broke');
      isLost = false;
      const repeated = lost.submit(rig.order({ idempotencyKey: 'k' }));
      await rig.advance(1_000);
      expect(await repeated).toMatchObject({ replayed: false, task: { upstreamId: 'up-1' } });
      await rig.expectBalance({ reserved: 50 });
    });

    test('a refused request releases its key', async () => {
      rig.driver.onSubmit = () => {
        throw driverError('retryable');
      };
      await expect(rig.submit({ idempotencyKey: 'k' })).rejects.toMatchObject({ code: 'retryable' });
      rig.driver.onSubmit = (task) => rig.driver.make(task);
      expect((await rig.tasks.submit(rig.order({ idempotencyKey: 'k' }))).replayed).toBe(false);
      await rig.expectBalance({ reserved: 50 });
    });
  });
});

describe('the kinds of driver errors', () => {
  const failure = new Failure(502, 'bad_response', 'Bad.');
  test.each([
    [400, 'rejected', undefined],
    [404, 'rejected', undefined],
    [401, 'retryable', 'key_refused'],
    [402, 'retryable', 'key_refused'],
    [403, 'retryable', 'forbidden'],
    [429, 'retryable', 'throttled'],
    [500, 'unknown', 'server_error'],
    [502, 'unknown', 'server_error'],
    [503, 'retryable', 'server_error'],
    [504, 'unknown', 'server_error'],
    [529, 'retryable', 'server_error'],
  ])('status %i is %s', (status, kind, failureKind) => {
    expect(driverErrorForStatus(status, failure)).toMatchObject({ kind, failureKind, failure });
  });

  test.each([
    [429, 30],
    [503, 30],
    [529, 30],
    [403, undefined],
    [500, undefined],
  ])('status %i has the pause %o', (status, pause) => {
    expect(driverErrorForStatus(status, failure, { pauseSeconds: 30 }).pauseSeconds).toBe(pause);
  });

  test.each([
    [Object.assign(new Error(), { code: 'ECONNREFUSED' }), 'retryable', 502, 'unreachable'],
    [Object.assign(new Error(), { code: 'UND_ERR_CONNECT_TIMEOUT' }), 'retryable', 504, 'unreachable'],
    [Object.assign(new Error(), { code: 'ETIMEDOUT', syscall: 'connect' }), 'retryable', 502, 'unreachable'],
    [Object.assign(new Error(), { code: 'CERT_HAS_EXPIRED' }), 'retryable', 502, 'unreachable'],
    [Object.assign(new Error(), { code: 'ECONNRESET', syscall: 'read' }), 'unknown', 502, 'disconnected'],
    [Object.assign(new Error(), { code: 'UND_ERR_HEADERS_TIMEOUT' }), 'unknown', 504, 'timeout'],
    [new TypeError('a bug'), 'unknown', 502, 'disconnected'],
    [failure, 'unknown', 502, 'invalid_response'],
  ])('the error %o is %s', (error, kind, status, failureKind) => {
    expect(asDriverError(error)).toMatchObject({ kind, failureKind, failure: { status } });
  });
});
