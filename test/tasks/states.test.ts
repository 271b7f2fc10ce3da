import { describe, expect, test } from 'vitest';
import type { TaskPoll } from '../../server/store/commands/task-polls.ts';
import type { Snapshot } from '../../server/tasks/driver.ts';
import { engines } from '../store/engines.ts';
import { logEntry } from '../store/ledger.ts';
import { now, startQuota, TaskHarness } from './harness.ts';
import { driverError } from './scripted-driver.ts';

const done = (seconds: number): Snapshot => ({
  state: 'completed',
  result: { url: 'https://files.example/clip.mp4' },
  usage: { units: seconds },
});
const failure: Snapshot = { state: 'failed', error: { code: 'content_moderated', message: 'Not that.' } };

const pollOf = (id: string, attempt: number): TaskPoll => ({
  id,
  attempt,
  state: 'in_progress',
  progress: 50,
  result: null,
  failures: 0,
  pollInterval: 1_000,
  polledAt: now,
  nextPollAt: now,
  now,
});

describe.each(engines)('the states of a task on %s', (engine) => {
  let rig: TaskHarness;
  TaskHarness.eachTest(engine, (made) => {
    rig = made;
  });

  const poll = (snapshot: Snapshot) => {
    rig.driver.onPoll = () => snapshot;
    return rig.step(15_000);
  };

  test('a new task is on disk with its reservation and a random id', async () => {
    const task = await rig.submit({ callbackUrl: 'https://client.example/hook' });
    expect(task.id).toMatch(/^task_[0-9a-f]{32}$/);
    expect(task).toMatchObject({
      upstreamId: 'up-1',
      state: 'queued',
      progress: 0,
      facts: { seconds: '5' },
      callbackUrl: 'https://client.example/hook',
      createdAt: now,
      completedAt: null,
      expiresAt: null,
      nextPollAt: now + 1_000,
    });
    expect(await rig.stored(task)).toMatchObject({ idempotency_key: null, fingerprint: null });
    expect(rig.driver.submitted).toEqual([{ id: task.id, channel: 'one', request: { prompt: 'a kite' } }]);
    expect(await rig.ledger()).toMatchObject([
      { request_id: task.requestId, kind: 'task', state: 'open', reserved: 50, unit: 'seconds' },
    ]);
    expect(rig.changes).toEqual([{ id: task.id, state: 'queued', progress: 0 }]);
    await rig.expectBalance({ reserved: 50 });
  });

  test('without enough quota nothing is written and no provider receives a request', async () => {
    const refused = rig.submit({ expectedUnits: startQuota / 10 + 1 });
    await expect(refused).rejects.toMatchObject({
      status: 403,
      code: 'insufficient_user_quota',
      message:
        'quota: the key has 100000 left, which does not cover this call; 10001 seconds of gamma3.0-video need 100010.',
    });
    expect(rig.driver.submitted).toEqual([]);
    expect(await rig.store.read.selectFrom('tasks').selectAll().execute()).toEqual([]);
    expect(await rig.ledger()).toEqual([]);
    await rig.expectBalance({});
  });

  test('queued, in progress, completed: charged for its usage and logged', async () => {
    const task = await rig.submit();
    await poll({ state: 'queued', progress: 0 });
    expect(await rig.stored(task)).toMatchObject({ state: 'queued', started_at: null, updated_at: now });
    await poll({ state: 'in_progress', progress: 40, result: { note: 'half way' } });
    expect(await rig.stored(task)).toMatchObject({
      state: 'in_progress',
      progress: 40,
      started_at: now + 30_000,
      updated_at: now + 30_000,
      result: '{"note":"half way"}',
    });
    await poll({
      ...done(4.5),
      usage: { units: 4.5, inputTokens: 7, outputTokens: 11 },
    } as Snapshot);
    const final = await rig.tasks.read(rig.name(task));
    expect(final).toMatchObject({
      state: 'completed',
      progress: 100,
      result: { url: 'https://files.example/clip.mp4' },
      error: null,
      startedAt: now + 30_000,
      completedAt: now + 45_000,
      expiresAt: now + 45_000 + 86_400_000,
      nextPollAt: null,
      leaseOwner: null,
    });
    expect(await rig.log()).toMatchObject([
      {
        request_id: task.requestId,
        operation: 'createVideo',
        channel: 'one',
        status: 200,
        error_code: null,
        unit: 'seconds',
        units: 4.5,
        prompt_tokens: 7,
        completion_tokens: 11,
        quota: 45,
        duration_ms: 45_000,
      },
    ]);
    expect(rig.changes.map(({ state, progress }) => [state, progress])).toEqual([
      ['queued', 0],
      ['in_progress', 40],
      ['completed', 100],
    ]);
    await rig.expectBalance({ charged: 45 });
  });

  test('listeners receive one event for the start, and no error is logged', async () => {
    await rig.submit();
    for (const progress of [10, 20]) await poll({ state: 'in_progress', progress });
    await poll(done(5));
    expect(rig.changes.map(({ state, progress }) => [state, progress])).toEqual([
      ['queued', 0],
      ['in_progress', 10],
      ['completed', 100],
    ]);
    expect(rig.lines).toEqual([]);
  });

  test('a reservation that was closed early is logged as an error', async () => {
    const task = await rig.submit();
    const { requestId } = task;
    await rig.store.run('refund', { requestId, log: { ...logEntry, units: 0 }, now });
    await poll(done(5));
    expect(await rig.stored(task)).toMatchObject({ state: 'completed' });
    expect(rig.lines).toEqual([expect.objectContaining({ level: 50, task: task.id })]);
    await rig.expectBalance({});
  });

  test('state and progress never decrease, and progress is 100 only at completion', async () => {
    const task = await rig.submit();
    const seen: [string, number][] = [];
    for (const snapshot of [
      { state: 'in_progress', progress: 60 },
      { state: 'queued', progress: 10 },
      { state: 'in_progress', progress: 100 },
      { state: 'in_progress' },
      { state: 'in_progress', progress: Number.NaN },
    ] as const) {
      await poll(snapshot);
      const { state, progress } = await rig.stored(task);
      seen.push([state, progress]);
    }
    expect(seen).toEqual([
      ['in_progress', 60],
      ['in_progress', 60],
      ['in_progress', 99],
      ['in_progress', 99],
      ['in_progress', 99],
    ]);
    const { id, attempt } = await rig.stored(task);
    expect(await rig.store.run('recordPolls', [pollOf(id, attempt)])).toEqual([true]);
    expect(await rig.stored(task)).toMatchObject({ progress: 99 });
    await poll(done(5));
    expect(await rig.stored(task)).toMatchObject({ state: 'completed', progress: 100 });
  });

  test('a failed poll keeps state, progress and result', async () => {
    const task = await rig.submit();
    await poll({ state: 'in_progress', progress: 60, result: { note: 'half way' } });
    rig.driver.onPoll = () => {
      throw driverError('retryable');
    };
    await rig.step(15_000);
    const left = { state: 'in_progress', progress: 60, result: '{"note":"half way"}', failures: 1 };
    expect(await rig.stored(task)).toMatchObject(left);
    rig.driver.onPoll = () => ({ ...failure, result: { note: 'why' } });
    await rig.step(15_000);
    expect(await rig.stored(task)).toMatchObject({ state: 'failed', result: '{"note":"why"}' });
  });

  test('the result of a submission is shown at once', async () => {
    rig.driver.onSubmit = (task) => ({ ...rig.driver.make(task), result: { queue: 3 } });
    expect(await rig.submit()).toMatchObject({ result: { queue: 3 } });
    rig.driver.onSubmit = (task) => rig.driver.make(task);
    expect(await rig.submit()).toMatchObject({ result: null });
  });

  test('an upstream may start at once, or complete before the first poll', async () => {
    rig.driver.onSubmit = (task) => ({ ...rig.driver.make(task), state: 'in_progress', progress: 5 });
    const task = await rig.submit();
    expect(task).toMatchObject({ state: 'in_progress', progress: 5, startedAt: now });
    rig.driver.onSubmit = (one) => rig.driver.make(one);
    const other = await rig.submit();
    await poll(done(5));
    expect(await rig.stored(other)).toMatchObject({ state: 'completed', started_at: now + 15_000 });
    await rig.expectBalance({ charged: 100 });
  });

  test.each([
    ['queued', [failure]],
    ['in progress', [{ state: 'in_progress', progress: 70 }, failure]],
  ] as [string, Snapshot[]][])('a task that fails while %s is refunded', async (_, snapshots) => {
    const task = await rig.submit();
    for (const snapshot of snapshots) await poll(snapshot);
    const final = await rig.tasks.read(rig.name(task));
    expect(final).toMatchObject({
      state: 'failed',
      progress: snapshots.length === 1 ? 0 : 70,
      error: { code: 'content_moderated', message: 'Not that.' },
    });
    expect(await rig.log()).toMatchObject([{ error_code: 'content_moderated', quota: 0, units: 0 }]);
    await rig.expectBalance({});
  });

  test('a poll that the upstream rejects fails the task with that error', async () => {
    const task = await rig.submit();
    rig.driver.onPoll = () => {
      throw driverError('rejected');
    };
    await rig.step(1_000);
    expect(await rig.stored(task)).toMatchObject({
      state: 'failed',
      error_code: 'rejected',
      error_message: 'it was rejected',
    });
    await rig.expectBalance({});
  });

  test.each([
    ['no usage', undefined],
    ['a negative number', { units: -1 }],
    ['NaN', { units: Number.NaN }],
    ['an unsafe integer', { units: Number.MAX_SAFE_INTEGER }],
    ['a fractional token count', { units: 1, inputTokens: 0.5 }],
    ['a negative token count', { units: 1, outputTokens: -1 }],
  ])('a report of %s charges the reservation', async (_, usage) => {
    const task = await rig.submit();
    await poll({ state: 'completed', result: {}, ...(usage === undefined ? {} : { usage }) });
    expect(await rig.stored(task)).toMatchObject({ state: 'completed' });
    // An invalid figure is a fault of the provider. An absent one is allowed.
    const warning = {
      level: 40,
      msg: 'the reported usage is not plausible for the task; charging the upper bound',
    };
    expect(rig.lines).toMatchObject(usage === undefined ? [] : [warning]);
    await rig.expectBalance({ charged: 50 });
  });

  test('a report of zero usage is not charged', async () => {
    await rig.submit();
    await poll({ state: 'completed', result: {}, usage: { units: 0 } });
    expect(rig.lines).toEqual([]);
    await rig.expectBalance({});
  });

  test.each([
    { state: 'failed', error: { code: 'a\0b', message: 'It \0 broke.' } },
    { state: 'completed', result: { text: 'a\0b\ud800' } },
    { state: 'in_progress', progress: 12.7, pollAfterMs: Number.NaN, result: { text: 'a\0b' } },
    { state: 'in_progress', progress: -3, pollAfterMs: 0.5 },
  ] as Snapshot[])(
    'unusual messages and figures of an upstream do not block a state change: %o',
    async (snapshot) => {
      const task = await rig.submit();
      await poll(snapshot);
      const { state, failures, lease_owner } = await rig.stored(task);
      expect([state, failures, lease_owner]).toEqual([snapshot.state, 0, null]);
      if ('result' in snapshot)
        expect((await rig.tasks.read(rig.name(task)))?.result).toEqual(snapshot.result);
    },
  );

  test('the price of the creation applies', async () => {
    await rig.submit();
    const raised = rig.engine({
      priceTerms: () => ({
        unitPrice: 1_000,
        rule: null,
        groupRatio: 1,
        group: 'default',
        configRevision: 'abc',
      }),
    });
    rig.driver.onPoll = () => done(3);
    await rig.step(1_000, raised);
    await rig.expectBalance({ charged: 30 });
  });

  test('reported usage is charged up to four times the reservation', async () => {
    await rig.submit();
    await poll(done(20));
    expect(rig.lines).toEqual([]);
    await rig.expectBalance({ charged: 200 });
  });

  test('a report above four times the reservation is charged as the reservation, with a warning', async () => {
    const task = await rig.submit();
    await poll(done(21));
    const { request_id, channel } = await rig.stored(task);
    expect(rig.lines).toMatchObject([
      { level: 40, task: task.id, request_id, channel, reported: { units: 21 }, bound: { units: 5 } },
    ]);
    await rig.expectBalance({ charged: 50 });
  });

  test.each([
    ['completed', done(5), 50],
    ['failed', failure, 0],
  ] as const)('a task that is %s never changes', async (_, end, charged) => {
    const task = await rig.submit();
    await poll(end);
    const before = await rig.stored(task);
    const reservations = await rig.reservations();
    const { id, attempt } = before;
    const now = rig.clock.now() + 1;
    const other = { id, result: null, expiresAt: now, now, dueNow: now };
    const charge = { quota: 7, units: 7, inputTokens: 0, outputTokens: 0 };
    const error = { code: 'late', message: 'late' };
    for (const by of [attempt, null]) {
      const finish = { ...other, attempt: by };
      expect(await rig.store.run('finishTask', { ...finish, error, charge: null })).toBeUndefined();
      expect(await rig.store.run('finishTask', { ...finish, error: null, charge })).toBeUndefined();
    }
    expect(await rig.store.run('recordPolls', [pollOf(id, attempt)])).toEqual([false]);
    const accepted = {
      id,
      attempt,
      result: null,
      upstreamId: 'other',
      state: 'queued',
      progress: 0,
      nextPollAt: now,
      now,
      dueNow: now,
    } as const;
    expect(await rig.store.run('acceptTask', accepted)).toBeUndefined();
    expect(await rig.store.run('markSubmitted', { id, attempt, channel: 'two', askedAt: now })).toBe(false);
    const refused = { id, attempt, channel: 'one', status: 500, errorCode: 'late', now };
    expect(await rig.store.run('dropTask', refused)).toBe(false);
    expect(await rig.store.run('claimTask', { id, attempt, owner: 'o', until: now })).toBeUndefined();
    expect((await rig.tasks.cancel(rig.name(task)))?.canceled).toBe(false);
    expect(await rig.step(86_400_000)).toBe(0);
    expect(await rig.tasks.runHousekeeping()).toEqual({ pruned: 0, expired: 0 });
    expect(await rig.stored(task)).toEqual(before);
    expect(await rig.reservations()).toEqual(reservations);
    await rig.expectBalance({ charged });
  });

  test('a database constraint allows only a settlement to end a task', async () => {
    const { id, attempt } = await rig.submit();
    const state = 'completed' as 'queued';
    const ended = rig.store.run('recordPolls', [{ ...pollOf(id, attempt), state }]);
    await expect(ended).rejects.toThrow(/tasks_due/);
    expect(await rig.stored({ id })).toMatchObject({ state: 'queued', progress: 0 });
  });
});
