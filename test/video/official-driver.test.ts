import { describe, expect, test } from 'vitest';
import { officialDriver } from '../../server/providers/official/tasks.ts';
import type { AcceptedTask } from '../../server/tasks/driver.ts';
import { acceptedTask } from '../support/accepted-task.ts';
import { failureOf, useDriverRig } from '../support/driver-rig.ts';

const model = 'epsilon-delta-2-5-260628';
const rig = useDriverRig({ protocol: 'official', models: [{ id: model, upstream: 'own-name' }] });
const path = '/api/v3/contents/generations/tasks';
const video_url = 'https://files.example/a.mp4?signature=1';

const task = (change: Partial<AcceptedTask> = {}) =>
  acceptedTask({ driver: 'official', model, upstreamId: 'cgt-1', ...change });
const poll = (body: unknown, change: Partial<AcceptedTask> = {}) => {
  rig.answer = { body };
  return officialDriver.poll(task(change), rig.to());
};

describe('a submission', () => {
  const submit = (body: unknown) => {
    rig.answer = { body };
    return officialDriver.submit(task(), { content: [] }, rig.to());
  };

  test('uses the upstream’s model name', async () => {
    expect(await submit({ id: 'cgt-1' })).toEqual({ upstreamId: 'cgt-1' });
    expect(rig.seen.map((one) => [one.method, one.path, one.body])).toEqual([
      ['POST', path, { model: 'own-name', content: [] }],
    ]);
  });

  test.each([{}, { id: '' }, '', []])('with the response %j has an unknown outcome', async (body) => {
    expect(await failureOf(submit(body))).toMatchObject({ kind: 'unknown', fault: 'invalid_response' });
  });
});

describe('a poll', () => {
  const noVideo = { code: 'video_generation_failed', message: 'The provider made no video.' };

  test.each<[object, object]>([
    [{ status: 'queued' }, { state: 'queued' }],
    [{ status: 'running' }, { state: 'in_progress', progress: 50 }],
    [{ status: 'succeeded' }, { state: 'failed', error: noVideo }],
    [{ status: 'failed' }, { state: 'failed', error: noVideo }],
    [
      { status: 'failed', error: { code: 'TooDark', message: 'cgt-1 at 10.0.0.7' } },
      { state: 'failed', error: { code: 'TooDark', message: 'task_public at ***' } },
    ],
    [
      { status: 'expired' },
      { state: 'failed', error: { code: 'task_expired', message: 'The task was not finished in time.' } },
    ],
    [
      { status: 'cancelled' },
      {
        state: 'failed',
        error: { code: 'task_canceled', message: 'The task was canceled before it began.' },
      },
    ],
  ])('returns the state for %j', async (polled, expected) => {
    const facts = { resolution: '720p', seed: -1 };
    const result = { native: { content: {}, ...facts }, metadata: facts };
    expect(await poll({ ...polled, ...facts })).toEqual({ ...expected, result });
    expect(rig.seen.map((one) => [one.method, one.path])).toEqual([['GET', `${path}/cgt-1`]]);
  });

  const done = { status: 'succeeded', content: { video_url } };
  test.each<[object, object | undefined]>([
    [
      { duration: 5, usage: { completion_tokens: 900 } },
      { units: 5, outputTokens: 900 },
    ],
    [{ frames: 36 }, { units: 1.5 }],
    [{ usage: { completion_tokens: 900 } }, { outputTokens: 900 }],
    [{}, undefined],
  ])('returns the usage for %j', async (fields, usage) => {
    const snapshot = await poll({ ...done, ...fields });
    expect(snapshot).toMatchObject({ state: 'completed', result: { video_url } });
    expect('usage' in snapshot ? snapshot.usage : undefined).toEqual(usage);
  });

  test('with an unknown state leaves the task unchanged', async () => {
    expect(await poll({ status: 'thinking' })).toEqual({ state: 'queued' });
    expect(await poll({}, { state: 'in_progress' })).toEqual({ state: 'in_progress' });
  });
});

describe('a cancellation', () => {
  const cancel = (body: unknown) => {
    rig.answer = { body };
    return (
      officialDriver.cancel?.(task({ upstreamId: 'c/1' }), rig.to()) ??
      Promise.reject(new Error('the driver has no cancel'))
    );
  };
  const calls = () => rig.seen.map((one) => [one.method, one.path]);

  test('polls first, and deletes a task that has not ended', async () => {
    await cancel({ status: 'running' });
    expect(calls()).toEqual([
      ['GET', `${path}/c%2F1`],
      ['DELETE', `${path}/c%2F1`],
    ]);
  });

  test('does not delete a task that has ended', async () => {
    expect(await failureOf(cancel({ status: 'succeeded', content: { video_url } }))).toMatchObject({
      kind: 'rejected',
      status: 400,
      code: 'UnsupportedOperation',
      message: 'The task has already ended.',
    });
    expect(calls()).toEqual([['GET', `${path}/c%2F1`]]);
  });
});
