import { expect, test } from 'vitest';
import { pollTask, requestTask } from '../../server/providers/task-request.ts';
import { driverErrorOf, failureOf, useDriverRig } from '../support/driver-rig.ts';

const rig = useDriverRig({});
const ask = () =>
  requestTask(rig.to(), { method: 'POST', path: '/tasks', body: { prompt: 'at https://mine.example/a' } });
const poll = () => pollTask(rig.to(), '/tasks/1', () => ({ state: 'queued' }));

test.each([200, 204, 299])('a response with status %i is read and may be empty', async (status) => {
  rig.answer = { status, ...(status !== 204 && { body: { id: 1 } }) };
  expect(await ask()).toEqual(status === 204 ? undefined : { id: 1 });
});

test.each([
  ['a code', { code: 'Throttling', message: 'slow' }],
  ['none', {}],
])('throttling with %s reports the retry time', async (_, body) => {
  rig.answer = { status: 429, headers: { 'retry-after': '7' }, body };
  const { kind, failure, pauseSeconds: pause, failureKind: fault } = await driverErrorOf(ask());
  expect([kind, fault, pause, failure.status, failure.retryAfter]).toEqual([
    'retryable',
    'throttled',
    7,
    429,
    7,
  ]);
  rig.answer = { status: 429, body };
  expect((await driverErrorOf(ask())).failure.retryAfter).toBe(1);
});

test('a rejection has the provider’s code and redacted message', async () => {
  rig.answer = { status: 422, body: { code: 'TooWide', message: 'https://mine.example/a at 10.0.0.7' } };
  const { kind, failure } = await driverErrorOf(ask());
  expect([kind, failure.status, failure.code, failure.message, failure.retryAfter]).toEqual([
    'rejected',
    400,
    'TooWide',
    'https://mine.example/a at ***',
    undefined,
  ]);
});

test.each([
  [404, {}],
  [410, { code: 'Gone' }],
  [400, { code: 'task_not_exist' }],
])('a poll with the response %i %j reports a lost task', async (status, body) => {
  rig.answer = { status, body };
  const error = { code: 'task_lost', message: 'The provider no longer has the task.' };
  expect(await poll()).toEqual({ state: 'failed', error });
});

test.each([
  [401, {}, 'key_refused'],
  [403, { code: 'AccessDenied' }, 'key_refused'],
  [403, { code: 'DataInspectionFailed' }, 'forbidden'],
  [400, { code: 'InvalidParameter' }, undefined],
  [500, {}, 'server_error'],
])('a poll with the response %i %j is the failure %s of the channel', async (status, body, failureKind) => {
  rig.answer = { status, body };
  await expect(poll()).rejects.toMatchObject({ failureKind });
});

test.each([
  [400, { code: 'InvalidParameter' }, 'unknown', 400],
  [409, {}, 'unknown', 400],
  [500, {}, 'unknown', 502],
  [401, {}, 'retryable', 502],
])('a poll with the response %i %j fails', async (status, body, kind, expected) => {
  rig.answer = { status, body };
  expect(await failureOf(poll())).toMatchObject({ kind, status: expected });
});
