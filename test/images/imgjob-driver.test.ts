import { describe, expect, test } from 'vitest';
import { actionOf } from '../../server/providers/imgjob/image-job.ts';
import { imgjobDriver } from '../../server/providers/imgjob/tasks.ts';
import type { AcceptedTask } from '../../server/tasks/driver.ts';
import { acceptedTask } from '../support/accepted-task.ts';
import { failureOf, useDriverRig } from '../support/driver-rig.ts';

const rig = useDriverRig({ protocol: 'imgjob' });
const gridUrl = 'https://files.example/grid.png?signature=1';
const button = { customId: 'IJ::JOB::upsample::1::9f2c', emoji: '*', label: 'U1', type: 2, style: 2 };

const job = (change: Partial<AcceptedTask> = {}) =>
  acceptedTask({ driver: 'imgjob', model: 'imgjob_imagine', unit: 'actions', upstreamId: '17', ...change });
const poll = (body: unknown, change: Partial<AcceptedTask> = {}) => {
  rig.answer = { body };
  return imgjobDriver.poll(job(change), rig.to());
};
const submit = (body: object, facts: object = {}, request: object = { prompt: 'a harbour' }) => {
  rig.answer = { body: { result: '17', ...body } };
  return imgjobDriver.submit(job({ facts: { ...facts } }), request, rig.to());
};
const resume = (body: object, result: object | null) => {
  rig.answer = { body: { result: '18', ...body } };
  return imgjobDriver.resume?.(job({ result: result && { ...result } }), { prompt: 'a boat' }, rig.to());
};

describe('a job', () => {
  test('is submitted by the call for its action', async () => {
    expect(await submit({ code: 1 })).toEqual({ upstreamId: '17' });
    expect(await submit({ code: 1 }, { custom_id: 'a' })).toEqual({ upstreamId: '17' });
    expect(rig.seen.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/imgjob/submit/imagine', { prompt: 'a harbour' }],
      ['POST', '/imgjob/submit/action', { prompt: 'a harbour' }],
    ]);
  });

  const properties = {
    finalPrompt: 'a harbour at 10.0.0.7',
    remix: false,
    numberOfQueues: 0,
    instanceId: 'account',
  };
  test.each([
    [21, {}, { finalPrompt: 'a harbour at ***', remix: false }, undefined],
    [21, { custom_id: 'a' }, { finalPrompt: 'a harbour at ***', remix: false }, true],
    [22, {}, { numberOfQueues: 0 }, undefined],
    [22, { custom_id: 'a' }, { numberOfQueues: 0 }, undefined],
  ])(
    'accepted with %i for %j stores the properties of the response',
    async (code, facts, stored, waiting) => {
      expect(await submit({ code, properties }, facts)).toEqual({
        upstreamId: '17',
        result: { submitted: { code, properties: stored }, waiting },
      });
    },
  );

  test.each([
    [21, undefined],
    [21, { finalPrompt: '', remix: 1 }],
    [21, { finalPrompt: 7, remix: 'no' }],
    [22, { numberOfQueues: -1 }],
    [22, { numberOfQueues: 1.5 }],
    [22, { numberOfQueues: 'many' }],
    [22, {}],
  ])('accepted with %i and %j stores no properties', async (code, given) => {
    expect(await submit({ code, properties: given })).toEqual({
      upstreamId: '17',
      result: { submitted: { code, properties: {} } },
    });
  });

  test('stores 20,000 characters of the final prompt, with hosts of the request', async () => {
    const long = 'https://sent.example/ '.padEnd(20_001, 'a');
    const request = { prompt: 'as https://sent.example/' };
    expect(await submit({ code: 21, properties: { finalPrompt: long } }, {}, request)).toMatchObject({
      result: { submitted: { properties: { finalPrompt: long.slice(0, 20_000) } } },
    });
  });

  const throttled = 'The provider takes no more requests now.';
  const invalid = 'The provider returned an invalid response.';
  const noPrompt = 'prompt: the provider takes no prompt with';
  const rejection = 'The provider rejected the request.';
  const failed = 'The provider failed to handle the request.';
  test.each([
    [
      { code: 3 },
      'rejected',
      404,
      'resource_not_found',
      'taskId: the provider no longer has the job.',
      undefined,
    ],
    [
      { code: 4, description: 'wrong at 10.0.0.7' },
      'rejected',
      400,
      'bad_request',
      'wrong at ***',
      undefined,
    ],
    [
      { code: 4, description: 'at sent.example' },
      'rejected',
      400,
      'bad_request',
      'at sent.example',
      undefined,
    ],
    [
      { code: 4, description: 'x'.repeat(3_000) },
      'rejected',
      400,
      'bad_request',
      'x'.repeat(2_000),
      undefined,
    ],
    [{ code: '4' }, 'rejected', 400, 'bad_request', rejection, undefined],
    [{ code: 9, description: 'at db-7' }, 'unknown', 502, 'bad_response_status_code', failed, 'server_error'],
    [{ code: 23 }, 'retryable', 429, 'rate_limit_exceeded', throttled, 'throttled'],
    [{ code: 30 }, 'retryable', 429, 'rate_limit_exceeded', throttled, 'throttled'],
    [
      { code: 24, properties: { bannedWord: 'blood' } },
      'rejected',
      400,
      'banned_word',
      `${noPrompt} the word "blood".`,
      undefined,
    ],
    [
      { code: 24, properties: { bannedWord: 'x'.repeat(90) } },
      'rejected',
      400,
      'banned_word',
      `${noPrompt} the word "${'x'.repeat(80)}".`,
      undefined,
    ],
    [{ code: 24 }, 'rejected', 400, 'banned_word', `${noPrompt} one of its words.`, undefined],
    [{ code: 7 }, 'unknown', 502, 'bad_response', invalid, 'invalid_response'],
    [{ code: null }, 'unknown', 502, 'bad_response', invalid, 'invalid_response'],
    [{ code: 1, result: '' }, 'unknown', 502, 'bad_response', invalid, 'invalid_response'],
    [{ code: 21, result: { id: 1 } }, 'unknown', 502, 'bad_response', invalid, 'invalid_response'],
  ])('fails for the response %j', async (body, kind, status, code, message, fault) => {
    const request = { prompt: 'as https://sent.example/' };
    expect(await failureOf(submit(body, {}, request))).toEqual({ kind, status, code, message, fault });
  });

  test('that waits is continued by the modal call', async () => {
    const submitted = { code: 21, properties: {} };
    expect(await resume({ code: 1 }, { waiting: true, submitted })).toEqual({
      upstreamId: '18',
      result: { submitted },
    });
    expect(rig.seen).toMatchObject([
      { method: 'POST', path: '/imgjob/submit/modal', body: { prompt: 'a boat', taskId: '17' } },
    ]);
    expect(await resume({ code: 1 }, null)).toEqual({ upstreamId: '18', result: {} });
  });
});

describe('a poll', () => {
  const finished = {
    status: 'SUCCESS',
    action: 'IMAGINE',
    imageUrl: gridUrl,
    videoUrl: 'https://files.example/a.mp4',
    buttons: [button],
    prompt: 'a harbour',
    promptEn: 'the harbour',
    description: 'done',
    properties: { finalPrompt: 'a harbour --v 6', finalZhPrompt: 'port', account: 'ours' },
  };
  const result = {
    image_url: gridUrl,
    video_url: 'https://files.example/a.mp4',
    buttons: [button],
    shown: {
      action: 'IMAGINE',
      prompt: 'a harbour',
      promptEn: 'the harbour',
      description: 'done',
      properties: { finalPrompt: 'a harbour --v 6', finalZhPrompt: 'port' },
    },
  };
  const bare = { buttons: [], shown: {} };

  test('returns all public fields of a finished job', async () => {
    expect(await poll(finished, { upstreamId: '1/7' })).toEqual({ state: 'completed', result });
    expect(rig.seen).toMatchObject([{ method: 'GET', path: '/imgjob/task/1%2F7/fetch' }]);
    const submitted = { code: 22 as const, properties: { numberOfQueues: 1 } };
    expect(await poll(finished, { result: { submitted } })).toEqual({
      state: 'completed',
      result: { ...result, submitted },
    });
    for (const url of [{ imageUrl: gridUrl }, { videoUrl: gridUrl }])
      expect(await poll({ status: 'SUCCESS', ...url })).toMatchObject({ state: 'completed' });
  });

  const none = { code: 'image_generation_failed', message: 'The provider made no image.' };
  test('without a job fails it after 20 consecutive polls, not after 19', async () => {
    let result: AcceptedTask['result'] = { submitted: { code: 21, properties: {} } };
    for (let polls = 1; polls < 20; polls += 1) {
      const found = await poll(polls % 2 === 0 ? '' : 'null', { state: 'in_progress', result });
      expect(found).toEqual({ state: 'in_progress', result: { ...result, missedPolls: polls } });
      result = found.result ?? null;
    }
    const error = { code: 'task_lost', message: 'The provider no longer has the task.' };
    expect(await poll('null', { result })).toEqual({ state: 'failed', error });
    // A response with the job resets the count.
    const seen = await poll({ status: 'SUBMITTED' }, { result });
    expect(seen.result).not.toHaveProperty('missedPolls');
  });

  test.each<[unknown, object]>([
    [{ status: 'NOT_START' }, { state: 'queued', result: bare }],
    [{ status: 'SUBMITTED' }, { state: 'queued', result: bare }],
    [{ status: 'MODAL' }, { state: 'queued', result: { ...bare, waiting: true } }],
    [{ status: 'IN_PROGRESS' }, { state: 'in_progress', progress: 0, result: bare }],
    [
      { status: 'IN_PROGRESS', progress: '46%' },
      { state: 'in_progress', progress: 46, result: bare },
    ],
    [
      { status: 'IN_PROGRESS', progress: '100%' },
      { state: 'in_progress', progress: 100, result: bare },
    ],
    [
      { status: 'IN_PROGRESS', progress: '46.5%' },
      { state: 'in_progress', progress: 46.5, result: bare },
    ],
    [
      { status: 'IN_PROGRESS', progress: 46 },
      { state: 'in_progress', progress: 46, result: bare },
    ],
    [
      { status: 'IN_PROGRESS', progress: 'a 46%' },
      { state: 'in_progress', progress: 0, result: bare },
    ],
    [
      { status: 'IN_PROGRESS', progress: '4%6' },
      { state: 'in_progress', progress: 0, result: bare },
    ],
    [
      { status: 'SUCCESS', imageUrl: 'none' },
      { state: 'failed', error: none, result: bare },
    ],
    [{ status: 'FAILURE' }, { state: 'failed', error: none, result: bare }],
    [
      { status: 'FAILURE', failReason: 'job 17 at 10.0.0.7' },
      { state: 'failed', error: { ...none, message: 'job task_public at ***' }, result: bare },
    ],
    [
      { status: 'CANCEL' },
      {
        state: 'failed',
        error: { code: 'task_canceled', message: 'The task was canceled before it began.' },
        result: bare,
      },
    ],
    ['', { state: 'queued', result: { missedPolls: 1 } }],
    ['null', { state: 'queued', result: { missedPolls: 1 } }],
    [{ status: 'THINKING' }, { state: 'queued' }],
    [[], { state: 'queued' }],
  ])('that returns %j', async (body, snapshot) => {
    expect(await poll(body)).toEqual(snapshot);
  });

  test('with an unknown state keeps the state of a started job', async () => {
    expect(await poll({ status: 'THINKING' }, { state: 'in_progress' })).toEqual({ state: 'in_progress' });
    expect(await failureOf(poll('{"status":'))).toMatchObject({ kind: 'unknown', fault: 'invalid_response' });
  });

  test('redacts URLs of the provider in texts, but not those of the request', async () => {
    const given = 'https://cdn.vendor.com/7.png, https://shop.example/a.png and https://sent.example/';
    const shown = '***, https://shop.example/a.png and https://sent.example/';
    const facts = { prompt: 'as in https://shop.example/a.png', sent_hosts: ['sent.example'] };
    const words = { prompt: given, properties: { finalPrompt: given } };
    expect(await poll({ status: 'SUBMITTED', ...words }, { facts })).toMatchObject({
      result: { shown: { prompt: shown, properties: { finalPrompt: shown } } },
    });
  });

  test('drops values whose type or length is not in the contract', async () => {
    const long = 'a'.repeat(20_001);
    const junk = [null, 7, {}, { customId: '' }, { customId: 'x'.repeat(513), label: 'long' }];
    const styles = [0, 1, 4, 5, 1.5, 'x'].map((style) => ({ customId: 'a', style }));
    const longest = { customId: 'x'.repeat(512), label: long, emoji: long, style: '3', type: 3 };
    const { result: read } = (await poll({
      ...finished,
      action: 'a'.repeat(201),
      prompt: { text: 'a harbour' },
      promptEn: long,
      properties: 'none',
      buttons: [...junk, { ...button, label: 5, emoji: 7 }, longest, ...styles],
      imageUrl: 'data:image/png;base64,AAAA',
      videoUrl: 'javascript:alert(1)',
      status: 'SUBMITTED',
    })) as { result: object };
    const empty = { emoji: '', label: '', type: 2 };
    const words = { emoji: 'a'.repeat(200), label: 'a'.repeat(200), type: 2 };
    expect(read).toEqual({
      shown: { action: 'a'.repeat(200), promptEn: long.slice(0, 20_000), description: 'done' },
      buttons: [
        { ...empty, customId: button.customId, style: 2 },
        { ...words, customId: 'x'.repeat(512), style: 3 },
        ...[undefined, 1, 4, undefined, undefined, undefined].map((style) => ({
          ...empty,
          customId: 'a',
          ...(style !== undefined && { style }),
        })),
      ],
    });
    const many = await poll({ status: 'SUBMITTED', buttons: Array(101).fill(button) });
    expect(many).toMatchObject({ result: { buttons: { length: 100 } } });
    expect(await poll({ status: 'SUBMITTED', buttons: 'none' })).toMatchObject({ result: { buttons: [] } });
  });
});

test.each([
  ['IJ::JOB::upsample::1', 'UPSCALE'],
  ['IJ::JOB::variation::1', 'VARIATION'],
  ['IJ::JOB::high_variation::1', 'VARIATION'],
  ['IJ::JOB::low_variation::1', 'VARIATION'],
  ['IJ::JOB::reroll::0', 'REROLL'],
  ['IJ::JOB::pan_left::1', 'PAN'],
  ['IJ::Outpaint::50', 'ZOOM'],
  ['IJ::CustomZoom::1', 'ZOOM'],
  ['IJ::Inpaint::1', 'INPAINT'],
  ['IJ::Bookmark::1', 'ACTION'],
  ['upsample', 'ACTION'],
])('the button %s has the action %s', (customId, action) => {
  expect(actionOf(customId)).toBe(action);
});
