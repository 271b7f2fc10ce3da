import { describe, expect, test, vi } from 'vitest';
import { Failure, ProviderFailure } from '../../server/failure.ts';
import { StoreUnavailable } from '../../server/store/availability.ts';
import type { TaskRecord } from '../../server/store/queries/tasks.ts';
import type { Store } from '../../server/store/store.ts';
import { asDriverError, refusedBy, type Submission } from '../../server/tasks/driver.ts';
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
  const asked = () => rig.driver.submitted.map(({ channel }) => channel);

  test('a rejection is told as it came, gives all back and leaves no task', async () => {
    const rejected = driverError('rejected');
    rig.driver.onSubmit = () => {
      rig.clock.jump(80);
      throw rejected;
    };
    await expect(rig.submit({ channels: both() })).rejects.toBe(rejected.failure);
    expect(asked()).toEqual(['one']);
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
    await rig.expectBooks({});
  });

  test('a channel that certainly did nothing is followed by the next', async () => {
    rig.driver.onSubmit = async (task, { channel }) => {
      if (channel.name === 'one') {
        rig.clock.jump(80);
        throw driverError('retryable');
      }
      // When it was asked first counts: from then on it may have been taken.
      expect(await rig.stored(task)).toMatchObject({ channel: 'two', asked_at: now });
      return rig.driver.make(task);
    };
    const task = await rig.submit({ channels: both() });
    expect(asked()).toEqual(['one', 'two']);
    expect(await rig.stored(task)).toMatchObject({ channel: 'two', upstream_id: 'up-1' });
    await rig.expectBooks({ held: 50 });
  });

  test('a task that is ended while a channel refuses it is offered to no other', async () => {
    rig.driver.onSubmit = async ({ id }) => {
      expect(await rig.tasks.cancel(rig.name({ id }))).toMatchObject({ canceled: true });
      throw driverError('retryable');
    };
    expect(await rig.submit({ channels: both() })).toMatchObject({ error: { code: 'task_canceled' } });
    expect(asked()).toEqual(['one']);
    await rig.expectBooks({});
  });

  test('a task that costs nothing, or whose key has no limit, waits for no lease', async () => {
    const fromLease = vi.fn(async () => undefined);
    const tasks = rig.engine({ quota: { fromLease, reclaiming: (_key, _amount, attempt) => attempt() } });
    const { caller } = rig.order();
    await tasks.submit(rig.order({ expectedUnits: 0 }));
    await tasks.submit(rig.order({ caller: { ...caller, unlimited: true } }));
    expect(fromLease).not.toHaveBeenCalled();
    await tasks.submit(rig.order());
    expect(fromLease).toHaveBeenCalledOnce();
  });

  test('no more than three channels are asked for one task', async () => {
    rig.driver.onSubmit = () => {
      throw driverError('retryable');
    };
    const channels = ['one', 'two', 'one', 'two'].map((name) => rig.channel(name));
    await expect(rig.submit({ channels })).rejects.toMatchObject({ code: 'retryable' });
    expect(rig.driver.submitted.map(({ channel }) => channel)).toEqual(['one', 'two', 'one']);
    await rig.expectBooks({});
  });

  test('when no channel takes it the last word is told', async () => {
    rig.driver.onSubmit = (_task, { channel }) => {
      throw refusedBy(429, new ProviderFailure(429, channel.name, 'Busy.', { retryAfter: 1 }));
    };
    await expect(rig.submit({ channels: both() })).rejects.toMatchObject({ status: 429, code: 'two' });
    await expect(rig.submit({ channels: [] })).rejects.toMatchObject({ code: 'get_channel_failed' });
    expect(await rows()).toEqual([]);
    await rig.expectBooks({});
  });

  test('an unknown outcome is never tried again', async () => {
    rig.driver.onSubmit = (task) => {
      rig.driver.make(task);
      throw new Error('the connection broke');
    };
    await expect(rig.submit({ channels: both() })).rejects.toMatchObject({ status: 502 });
    expect(asked()).toEqual(['one']);
    expect(await rows()).toEqual([]);
    await rig.expectBooks({});
  });

  test('a submission cut off by the end of its process is found again, and not repeated', async () => {
    const begun = Promise.withResolvers<TaskRecord>();
    rig.driver.onSubmit = (task) => {
      rig.driver.make(task);
      begun.resolve(task);
      return new Promise<Submission>(() => {});
    };
    // The lease of a process that is gone: nothing else of it is left.
    void rig.engine({ owner: 'gone' }).submit(rig.order());
    const cutOff = await begun.promise;
    // However late it is: as long as the other may live, the task is its own.
    expect(await rig.step(3_600_000)).toBe(0);
    await rig.freeOrphans();
    await rig.step(0);
    expect(await rig.stored(cutOff)).toMatchObject({ state: 'failed', error_code: 'submission_interrupted' });
    expect(asked()).toHaveLength(1);
    await rig.expectBooks({});
  });

  test('a submission answered after its task was given up is taken back upstream', async () => {
    let answer: () => void = () => {};
    rig.driver.onSubmit = (task) =>
      new Promise((resolve) => {
        answer = () => resolve(rig.driver.make(task));
      });
    const submitted = rig.engine().submit(rig.order());
    await rig.settled();
    await rig.freeOrphans();
    await rig.step(0);
    answer();
    const { task } = await submitted;
    expect(task).toMatchObject({ state: 'failed', error: { code: 'submission_interrupted' } });
    expect(rig.driver.canceled).toEqual(['up-1']);
    await rig.expectBooks({});
  });

  test('a store that is away for long when the upstream has answered loses no task', async () => {
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
    expect(await rig.step(600_000, tasks)).toBe(0);
    away = false;
    expect((await submitted).task).toMatchObject({ state: 'queued', upstreamId: 'up-1' });
    expect(rig.driver.canceled).toEqual([]);
    expect(await rig.step(1_000, tasks)).toBe(1);
    await rig.expectBooks({ held: 50 });
  });

  test('a queued task can be canceled while its submission is on the way', async () => {
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
    await rig.expectBooks({});
  });

  test('a cancellation that comes when the upstream has just taken the task is too late', async () => {
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
    await rig.expectBooks({ held: 50 });
  });

  test('a provider that never answers is given up, with the quota', async () => {
    rig.driver.onSubmit = () => new Promise(() => {});
    const submitted = rig.submit();
    const told = submitted.catch((error: unknown) => error);
    await rig.advance(120_000);
    expect(await told).toMatchObject({ status: 504 });
    expect(await rows()).toEqual([]);
    await rig.expectBooks({});
  });

  describe('with an idempotency key', () => {
    test('the same request gives the same task, another one is refused, another user or format is free', async () => {
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
      expect(await rig.ledger()).toHaveLength(3);
    });

    test('a repeat waits for the one that is still on its way', async () => {
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
      await rig.expectBooks({ held: 50 });
    });

    test('two processes make one task of it', async () => {
      const [left, right] = [rig.engine(), rig.engine()];
      const orders = Array.from({ length: 10 }, (_, index) =>
        (index % 2 === 0 ? left : right).submit(rig.order({ idempotencyKey: 'k' })),
      );
      await rig.advance(1_000);
      const made = await Promise.all(orders);
      expect(new Set(made.map(({ task }) => task.id)).size).toBe(1);
      expect(asked()).toHaveLength(1);
      await rig.expectBooks({ held: 50 });
    });

    /** Begins it in another process, which gets to the store or to the upstream and no further. */
    const begin = async (reach: 'store' | 'upstream') => {
      if (reach === 'upstream') rig.driver.onSubmit = () => new Promise(() => {});
      const run: Store['run'] = (name, args) =>
        name === 'markAsked' && reach === 'store' ? new Promise(() => {}) : rig.store.run(name, args);
      void rig
        .engine({ owner: 'gone', store: { ...rig.store, run } })
        .submit(rig.order({ idempotencyKey: 'k' }));
      await rig.settled();
      rig.driver.onSubmit = (task) => rig.driver.make(task);
      const [task] = await rows();
      return task?.id;
    };
    const repeat = () => rig.tasks.submit(rig.order({ idempotencyKey: 'k' }));

    test('a repeat makes a new one where the first certainly never reached the upstream', async () => {
      const lost = await begin('store');
      const repeated = Promise.all([repeat(), repeat()]);
      await rig.advance(5_000);
      // The other process may still be at it.
      expect(asked()).toEqual([]);
      await rig.freeOrphans();
      await rig.advance(1_000);
      const made = await repeated;
      expect(made.filter(({ replayed }) => replayed)).toHaveLength(1);
      const [task] = made.map((one) => one.task);
      expect(task).toMatchObject({ state: 'queued', upstreamId: 'up-1' });
      expect((await rows()).map(({ id }) => id)).toEqual([task?.id]);
      expect(task?.id).not.toBe(lost);
      expect(await rig.log()).toMatchObject([{ error_code: 'submission_interrupted', quota: 0 }]);
      await rig.expectBooks({ held: 50 });
    });

    test('a poller finds it first, and a repeat makes a new one all the same', async () => {
      await begin('store');
      await rig.freeOrphans();
      expect(await rig.step(0)).toBe(1);
      expect(await rows()).toEqual([]);
      expect(await repeat()).toMatchObject({ replayed: false, task: { upstreamId: 'up-1' } });
      await rig.expectBooks({ held: 50 });
    });

    test.each(['a repeat', 'a poller'])(
      'one that may have reached the upstream is told as failed again and again: %s finds it first',
      async (finder) => {
        const lost = await begin('upstream');
        await rig.freeOrphans();
        if (finder === 'a poller') expect(await rig.step(0)).toBe(1);
        for (const _ of [1, 2]) {
          expect(await repeat()).toMatchObject({
            replayed: true,
            task: { id: lost, state: 'failed', error: { code: 'submission_interrupted' } },
          });
        }
        expect(asked()).toHaveLength(1);
        await rig.expectBooks({});
      },
    );

    test('a repeat waits for another process that is submitting', async () => {
      const answered = Promise.withResolvers<Submission>();
      rig.driver.onSubmit = () => answered.promise;
      const first = rig.engine().submit(rig.order({ idempotencyKey: 'k' }));
      await rig.settled();
      const repeated = repeat();
      await rig.advance(20_000);
      answered.resolve({ upstreamId: 'up' });
      await rig.advance(1_000);
      expect(await repeated).toEqual({ task: (await first).task, replayed: true });
      expect(asked()).toHaveLength(1);
      await rig.expectBooks({ held: 50 });
    });

    test('a repeat waits no longer for another process than a submission may take', async () => {
      const lost = await begin('store');
      const patient = rig.engine({ timing: { repeatLookMs: 45_000 } });
      let told = false;
      const repeated = patient.submit(rig.order({ idempotencyKey: 'k' })).finally(() => {
        told = true;
      });
      await rig.settled();
      await rig.advance(134_999);
      expect(told).toBe(false);
      await rig.advance(1);
      expect(told).toBe(true);
      expect(await repeated).toMatchObject({ task: { id: lost, upstreamId: null }, replayed: true });
      expect(asked()).toEqual([]);
    });

    test('a gateway that stops waits for a repeat that waits, which looks but once when its time is over', async () => {
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

    test('a repeat is made itself when another process is refused', async () => {
      const answered = Promise.withResolvers<Submission>();
      rig.driver.onSubmit = () => answered.promise;
      const first = rig.engine().submit(rig.order({ idempotencyKey: 'k' }));
      const told = first.catch((error: unknown) => error);
      await rig.settled();
      const repeated = repeat();
      await rig.settled();
      rig.driver.onSubmit = (task) => rig.driver.make(task);
      answered.reject(driverError('rejected'));
      await rig.advance(1_000);
      expect(await told).toMatchObject({ code: 'rejected' });
      expect(await repeated).toMatchObject({ replayed: false, task: { upstreamId: 'up-1' } });
      await rig.expectBooks({ held: 50 });
    });

    test('one whose store answer was lost is found out by a repeat to the same process', async () => {
      const lost = rig.engine({
        store: {
          ...rig.store,
          run: (name, args) => {
            const result = rig.store.run(name, args);
            if (name !== 'createTask' || !asking) return result;
            return result.then(() => Promise.reject(new Error('the connection broke')));
          },
        },
      });
      let asking = true;
      await expect(lost.submit(rig.order({ idempotencyKey: 'k' }))).rejects.toThrow('the connection broke');
      asking = false;
      const repeated = lost.submit(rig.order({ idempotencyKey: 'k' }));
      await rig.advance(1_000);
      expect(await repeated).toMatchObject({ replayed: false, task: { upstreamId: 'up-1' } });
      await rig.expectBooks({ held: 50 });
    });

    test('a refused request leaves its key for another try', async () => {
      rig.driver.onSubmit = () => {
        throw driverError('retryable');
      };
      await expect(rig.submit({ idempotencyKey: 'k' })).rejects.toMatchObject({ code: 'retryable' });
      rig.driver.onSubmit = (task) => rig.driver.make(task);
      expect((await rig.tasks.submit(rig.order({ idempotencyKey: 'k' }))).replayed).toBe(false);
      await rig.expectBooks({ held: 50 });
    });
  });
});

describe('the kinds of error', () => {
  const failure = new Failure(502, 'bad_response', 'Bad.');
  test.each([
    [400, 'rejected', undefined],
    [404, 'rejected', undefined],
    [401, 'retryable', 'key_refused'],
    [402, 'retryable', 'key_refused'],
    [403, 'retryable', 'key_refused'],
    [429, 'retryable', 'throttled'],
    [500, 'unknown', 'server_error'],
    [502, 'unknown', 'server_error'],
    [503, 'retryable', 'server_error'],
    [504, 'unknown', 'server_error'],
    [529, 'retryable', 'server_error'],
  ])('status %i is %s', (status, kind, fault) => {
    expect(refusedBy(status, failure)).toMatchObject({ kind, fault, failure });
  });

  test.each([
    [Object.assign(new Error(), { code: 'ECONNREFUSED' }), 'retryable', 502, 'unreachable'],
    [Object.assign(new Error(), { code: 'UND_ERR_CONNECT_TIMEOUT' }), 'retryable', 504, 'unreachable'],
    [Object.assign(new Error(), { code: 'ETIMEDOUT', syscall: 'connect' }), 'retryable', 502, 'unreachable'],
    [Object.assign(new Error(), { code: 'CERT_HAS_EXPIRED' }), 'retryable', 502, 'unreachable'],
    [Object.assign(new Error(), { code: 'ECONNRESET', syscall: 'read' }), 'unknown', 502, 'broken_off'],
    [Object.assign(new Error(), { code: 'UND_ERR_HEADERS_TIMEOUT' }), 'unknown', 504, 'timeout'],
    [new TypeError('a bug'), 'unknown', 502, 'broken_off'],
    [failure, 'unknown', 502, 'bad_answer'],
  ])('%o on the way is %s', (error, kind, status, fault) => {
    expect(asDriverError(error)).toMatchObject({ kind, fault, failure: { status } });
  });
});
