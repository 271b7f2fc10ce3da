import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ledgerRows, logRows, makeKey, post, remainingQuota } from '../server/ledger.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo } from '../support/upstream.ts';
import {
  cancel,
  expectSchema,
  type NativeTask,
  poll,
  submit,
  videoPath,
  waitForFinal,
} from './native-client.ts';
import { NativeUpstream } from './native-upstream.ts';

const videoUrl = 'https://files.example/boat.mp4?signature=1';
const imageUrl = 'https://files.example/cat.png';
const usage = {
  video_count: 1,
  duration: 4,
  input_video_duration: 0,
  output_video_duration: 4,
  fps: 30,
  SR: '720',
  ratio: '16:9',
};
const request = { model: 'gamma3.0-video', input: { prompt: 'A boat.' }, parameters: { duration: 5 } };

let upstream: NativeUpstream;
let target: TestGateway;

async function startGateway(): Promise<void> {
  upstream = await NativeUpstream.start();
  const models = [
    { id: '*', upstream: undefined },
    { id: 'acme-video', upstream: undefined },
    { id: 'gamma3.0-video', upstream: 'vendor-video' },
  ];
  target = await startTestGateway({
    sandbox: false,
    channels: [channelTo(upstream.url, { models })],
    groups: {
      default: { models: ['*'], ratio: 1 },
      trial: { models: ['gamma*'], ratio: 2 },
    },
    prices: { '*': 1, 'gamma*': 10 },
  });
}

async function stopGateway(): Promise<void> {
  await target.close();
  await upstream.close();
}

beforeEach(() => {
  upstream.reset();
  // Resets channel failures of earlier tests.
  for (const name of target.gateway.channels.names) target.gateway.channels.named(name)?.health.reset();
});

const lastRow = async () => (await ledgerRows(target)).at(-1);
const lastLog = async () => (await logRows(target)).at(-1);
const createdBody = () => upstream.changes[0]?.body;

describe('the ledger', () => {
  beforeAll(() => startGateway());
  afterAll(stopGateway);

  async function createTask(): Promise<{ id: string; key: string; quota: () => Promise<number> }> {
    const { key, id: token } = await makeKey(target, { quota: 1000, group: 'trial' });
    const response = await post(target.url, key, videoPath, request);
    const { output } = (await response.json()) as NativeTask;
    expect([response.status, output.task_status]).toEqual([200, 'PENDING']);
    return { id: output.task_id, key, quota: () => remainingQuota(target, token) };
  }

  const untilFinal = (id: string, key: string) =>
    vi.waitFor(
      async () => {
        const task = await poll(target, id, key);
        if (['PENDING', 'RUNNING'].includes(task.output.task_status))
          throw new Error('the task is not final');
        return task;
      },
      { timeout: 15_000, interval: 50 },
    );

  test('reserves the requested seconds and charges the seconds that the provider reports', async () => {
    upstream.polls = [
      upstream.pollResponse('RUNNING'),
      upstream.pollResponse('SUCCEEDED', { video_url: videoUrl }, usage),
    ];
    const { id, key, quota } = await createTask();
    expect(await quota()).toBe(1000 - 5 * 10 * 2);
    await untilFinal(id, key);
    expect(await quota()).toBe(1000 - 4 * 10 * 2);
    expect(await lastRow()).toEqual({ state: 'settled', reserved: 100, charged: 80, unit: 'seconds' });
    expect(await lastLog()).toMatchObject({
      operation: 'createNativeVideo',
      channel: 'recording',
      units: 4,
      quota: 80,
    });
  });

  test('charges the reservation if the provider reports no usage', async () => {
    upstream.polls = [upstream.pollResponse('SUCCEEDED', { video_url: videoUrl })];
    const { id, key, quota } = await createTask();
    await untilFinal(id, key);
    expect(await quota()).toBe(900);
  });

  test('refunds everything if the provider rejects the task', async () => {
    upstream.create = {
      status: 400,
      body: { code: 'DataInspectionFailed', message: 'Unsuitable.', request_id: 'r' },
    };
    const { key, id } = await makeKey(target, { quota: 1000, group: 'trial' });
    expect((await post(target.url, key, videoPath, request)).status).toBe(400);
    expect(await remainingQuota(target, id)).toBe(1000);
    expect(await lastRow()).toMatchObject({ state: 'refunded', charged: null });
    expect(await lastLog()).toMatchObject({ status: 400, quota: 0, units: 0 });
  });

  test('refunds everything if the task fails', async () => {
    upstream.polls = [
      upstream.pollResponse('FAILED', { code: 'DataInspectionFailed', message: 'Unsuitable.' }),
    ];
    const { id, key, quota } = await createTask();
    expect((await untilFinal(id, key)).output).toMatchObject({
      task_status: 'FAILED',
      code: 'DataInspectionFailed',
      message: 'Unsuitable.',
    });
    expect(await quota()).toBe(1000);
    expect(await lastRow()).toMatchObject({ state: 'refunded', charged: null });
  });

  test('refunds everything if the task is canceled', async () => {
    const { id, key, quota } = await createTask();
    const canceled = await cancel(target, id, key);
    expect(canceled.status).toBe(200);
    expectSchema('NativeCancelReply', await canceled.json());
    expect(await quota()).toBe(1000);
    expect((await poll(target, id, key)).output).toMatchObject({ task_id: id, task_status: 'CANCELED' });
    expect(await lastRow()).toMatchObject({ state: 'refunded', charged: null });
  });

  test('reserves the longest video for a duration of -1, and refuses a key that cannot pay it', async () => {
    const withFreeDuration = { ...request, parameters: { duration: -1 } };
    const { key } = await makeKey(target, { quota: 30 * 10 * 2 - 1, group: 'trial' });
    const refused = await post(target.url, key, videoPath, withFreeDuration);
    expect(refused.status).toBe(403);
    expect(((await refused.json()) as { error: { code: string } }).error.code).toBe(
      'insufficient_user_quota',
    );
    expect(upstream.changes).toEqual([]);
    const sufficient = await makeKey(target, { quota: 30 * 10 * 2, group: 'trial' });
    expect((await post(target.url, sufficient.key, videoPath, withFreeDuration)).status).toBe(200);
    expect(await remainingQuota(target, sufficient.id)).toBe(0);
  });
});

describe('the native route', () => {
  beforeAll(() => startGateway());
  afterAll(stopGateway);

  test('forwards the client’s body with the upstream’s model name', async () => {
    const body = {
      model: 'gamma3.0-video',
      input: { prompt: 'A boat.', media: [{ type: 'first_frame', url: imageUrl }], mood: 'calm' },
      parameters: { seed: 0, audio: false, watermark: false, prompt_extend: false, style: 'x' },
    };
    await submit(target, videoPath, body);
    expect(createdBody()).toEqual({ ...body, model: 'vendor-video' });
    expect(upstream.changes[0]?.headers['x-native-async']).toBe('enable');
  });

  test.each(['/v1/video/generations', '/v1/videos'])('is used by %s', async (path) => {
    const body = {
      model: 'gamma3.0-video',
      prompt: 'A boat.',
      images: [imageUrl, 'data:image/jpeg;base64,AAAA'],
      size: '720p',
      seconds: '4',
      metadata: { parameters: { seed: 0, audio: false, ratio: '1:1', duration: 9 } },
    };
    const response = await post(target.url, target.key, path, body);
    expect(response.status).toBe(200);
    expect(createdBody()).toEqual({
      model: 'vendor-video',
      input: {
        prompt: 'A boat.',
        media: [
          { type: 'first_frame', url: imageUrl },
          { type: 'last_frame', url: 'data:image/jpeg;base64,AAAA' },
        ],
      },
      parameters: { seed: 0, audio: false, ratio: '1:1', resolution: '720P', duration: 4 },
    });
    expect(await lastRow()).toMatchObject({ reserved: 40 });
  });

  test('returns all states of a task, without the upstream’s id', async () => {
    upstream.polls = [
      upstream.pollResponse('PENDING', { submit_time: '2026-03-01 12:00:00.000' }),
      upstream.pollResponse('RUNNING', {
        submit_time: '2026-03-01 12:00:00.000',
        scheduled_time: '2026-03-01 12:00:01.250',
      }),
      upstream.pollResponse(
        'SUCCEEDED',
        {
          submit_time: '2026-03-01 12:00:00.000',
          scheduled_time: '2026-03-01 12:00:01.250',
          end_time: '2026-03-01 12:01:30.500',
          orig_prompt: 'A boat.',
          video_url: videoUrl,
        },
        usage,
      ),
    ];
    const id = await submit(target, videoPath, request);
    const first = await poll(target, id);
    const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/);
    expect(first.output).toEqual({ task_id: id, task_status: 'PENDING', submit_time: timestamp });
    const seen = new Set<string>();
    const submitted = new Set<string | undefined>();
    const final = await vi.waitFor(
      async () => {
        const task = await poll(target, id);
        seen.add(JSON.stringify(task));
        submitted.add(task.output.submit_time);
        expect(task.output.task_status).toBe('SUCCEEDED');
        return task;
      },
      { timeout: 15_000, interval: 20 },
    );
    expect(final).toEqual({
      request_id: expect.stringMatching(/^req_/),
      output: {
        task_id: id,
        task_status: 'SUCCEEDED',
        // Times are the gateway's own, and do not change once returned.
        submit_time: first.output.submit_time,
        scheduled_time: timestamp,
        end_time: timestamp,
        orig_prompt: 'A boat.',
        video_url: videoUrl,
      },
      usage: { ...usage, SR: 720, cost: 4 * 10 },
    });
    expect([...submitted]).toEqual([first.output.submit_time]);
    const all = [...seen].join('');
    for (const status of ['PENDING', 'RUNNING', 'SUCCEEDED']) expect(all).toContain(`"${status}"`);
    expect(all).not.toContain(upstream.id);
    expect(all).not.toContain(upstream.url);
  });

  test('returns the times of submission and end in UTC', async () => {
    upstream.polls = [upstream.pollResponse('SUCCEEDED', { video_url: videoUrl })];
    const { output } = await waitForFinal(target, await submit(target, videoPath, request));
    const ageMs = (time = '') => Date.now() - Date.parse(`${time.replace(' ', 'T')}Z`);
    for (const time of [output.submit_time, output.end_time]) expect(ageMs(time)).toBeLessThan(60_000);
    expect((output.submit_time ?? '') < (output.end_time ?? '')).toBe(true);
    expect(output.orig_prompt).toBe('A boat.');
  });

  test.each([
    [400, { code: 'InvalidParameter', message: 'Bad <url>.', request_id: 'r-1', extra: [1] }],
    [404, { code: 'ModelNotFound', message: 'No model.', request_id: 'r-2' }],
    [409, { code: 'Conflict', message: 'Busy.', request_id: 'r-3' }, 400],
    [418, { code: 'Teapot', message: 'No coffee.', request_id: 'r-4' }, 400],
    [
      400,
      {
        code: 'InvalidParameter',
        message: 'Bad size, see https://help.vendor.com/errors?code=size#top and docs.vendor.com.',
        request_id: 'r-5',
      },
    ],
  ])('forwards a rejection with %i unchanged', async (status, body, expectedStatus = status) => {
    const text = JSON.stringify(body, null, 1);
    upstream.create = { status, body: text };
    const response = await post(target.url, target.key, videoPath, request);
    expect([response.status, await response.text()]).toEqual([expectedStatus, text]);
    expect(response.headers.get('content-type')).toContain('application/json');
  });

  test.each([
    ['7', '7'],
    ['3600', '300'],
    ['1e308', '1'],
    [undefined, '1'],
  ])('forwards throttling with the retry-after %s', async (retryAfter, expectedRetryAfter) => {
    upstream.create = {
      status: 429,
      body: { code: 'Throttling.RateQuota', message: 'Slow down.', request_id: 'r' },
      headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
    };
    const response = await post(target.url, target.key, videoPath, request);
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, expectedRetryAfter]);
    expect(await response.json()).toEqual({
      code: 'Throttling.RateQuota',
      message: 'Slow down.',
      request_id: 'r',
    });
  });

  test.each([
    ['HTML', { body: '<html>' }, 502],
    ['no task id', { body: { output: {} } }, 502],
    ['401', { status: 401, body: { code: 'InvalidApiKey', message: 'upstream-key' } }, 502],
    ['403', { status: 403, body: { code: 'AccessDenied', message: 'upstream-key' } }, 502],
    ['a closed connection', { disconnects: true }, 502],
  ])('responds to %s with its own error, and charges nothing', async (_, scripted, status) => {
    upstream.create = scripted;
    const response = await post(target.url, target.key, videoPath, request);
    const text = await response.text();
    expect(response.status, text).toBe(status);
    expectSchema('GenericError', JSON.parse(text));
    expect(text).not.toMatch(/10\.0\.0\.1|upstream-key|127\.0\.0\.1/);
    expect(await lastRow()).toMatchObject({ state: 'refunded' });
    expect(upstream.changes).toHaveLength(1);
  });

  const providerError = {
    code: 'InternalError',
    message: 'Failed, see https://help.vendor.com/e.',
    request_id: 'r-6',
  };
  test.each([
    ['with its own message', 500, providerError, 502, providerError],
    ['because it is unavailable', 503, providerError, 503, providerError],
    ['because it timed out', 504, providerError, 504, providerError],
    [
      'with private data and other fields',
      500,
      { ...providerError, message: 'host 10.0.0.1, upstream-key', trace: 'at 10.0.0.1' },
      502,
      { ...providerError, message: 'host ***, ***' },
    ],
    [
      'without a request id',
      500,
      { code: 'InternalError', message: 'Failed.' },
      502,
      { code: 'InternalError', message: 'Failed.', request_id: expect.stringMatching(/^req_/) },
    ],
    [
      'with a message about the account',
      500,
      { ...providerError, code: 'Arrearage', message: 'Account 1234 owes money.' },
      502,
      { code: 'bad_response_status_code', message: 'The provider failed to handle the request.' },
    ],
    [
      'without a body',
      500,
      '<html>',
      502,
      { code: 'bad_response_status_code', message: 'The provider failed to handle the request.' },
    ],
    [
      'because it is unavailable, without a message',
      503,
      {},
      503,
      { code: 'get_channel_failed', message: 'The provider is not available now.' },
    ],
  ])(
    'a provider failure %s is returned in the native format: %i',
    async (_, status, body, expectedStatus, expected) => {
      upstream.create = { status, body };
      const response = await post(target.url, target.key, videoPath, request);
      const responseBody: unknown = await response.json();
      expect([response.status, responseBody]).toEqual([expectedStatus, expect.objectContaining(expected)]);
      expectSchema('NativeError', responseBody);
      expect(Object.keys(responseBody as object).toSorted()).toEqual(['code', 'message', 'request_id']);
      expect(response.headers.get('x-request-id')).toMatch(/^req_/);
      expect(await lastRow()).toMatchObject({ state: 'refunded' });
    },
  );

  test('a provider failure is returned in the generic format by the generic route', async () => {
    upstream.create = { status: 500, body: providerError };
    const response = await post(target.url, target.key, '/v1/videos', {
      model: request.model,
      prompt: 'A boat.',
    });
    expect([response.status, await response.json()]).toEqual([
      502,
      { error: expect.objectContaining({ code: 'bad_response_status_code' }) },
    ]);
  });

  test('continues after failed polls', async () => {
    upstream.polls = [
      { body: '<html>' },
      upstream.pollResponse('DREAMING'),
      upstream.pollResponse('SUCCEEDED', { video_url: videoUrl }, usage),
    ];
    const { output } = await waitForFinal(target, await submit(target, videoPath, request));
    expect(output.task_status).toBe('SUCCEEDED');
    expect(await lastRow()).toMatchObject({ state: 'settled', charged: 40 });
  });

  test('does not cancel a running or a final task', async () => {
    upstream.cancel = {
      status: 400,
      body: { code: 'UnsupportedOperation', message: 'No.', request_id: 'r' },
    };
    const id = await submit(target, videoPath, request);
    const refused = await cancel(target, id);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { code: 'UnsupportedOperation' } });
    upstream.polls = [upstream.pollResponse('SUCCEEDED', { video_url: videoUrl }, usage)];
    await waitForFinal(target, id);
    const changeCount = upstream.changes.length;
    expect((await cancel(target, id)).status).toBe(400);
    expect(upstream.changes).toHaveLength(changeCount);
  });

  test('reports a cancellation without a response from the provider, and keeps polling', async () => {
    upstream.cancel = { disconnects: true };
    const id = await submit(target, videoPath, request);
    expect((await cancel(target, id)).status).toBe(502);
    upstream.polls = [upstream.pollResponse('SUCCEEDED', { video_url: videoUrl }, usage)];
    expect((await waitForFinal(target, id)).output.task_status).toBe('SUCCEEDED');
  });

  test('does not find unknown ids, tasks of other users, or tasks of other routes', async () => {
    const id = await submit(target, videoPath, request);
    const user = await target.gateway.store.run('createUser', { name: 'other', group: 'default', now: 1 });
    const { key } = await makeKey(target, { quota: 1000, userId: user.id });
    const generic = await post(target.url, target.key, '/v1/videos', {
      model: 'gamma3.0-video',
      prompt: 'A boat.',
    });
    const { id: video } = (await generic.json()) as { id: string };
    for (const [name, callerKey] of [
      ['task_nobody', target.key],
      [upstream.id, target.key],
      [video, target.key],
      [id, key],
    ] as const) {
      expect((await poll(target, name, callerKey)).output).toEqual({ task_id: name, task_status: 'UNKNOWN' });
      const refused = await cancel(target, name, callerKey);
      expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
        404,
        'resource_not_found',
      ]);
    }
  });

  test('deletes a task 24 hours after its end', async () => {
    upstream.polls = [upstream.pollResponse('SUCCEEDED', { video_url: videoUrl }, usage)];
    const id = await submit(target, videoPath, request);
    await waitForFinal(target, id);
    const day = 24 * 60 * 60 * 1000;
    const later = vi.spyOn(target.gateway, 'clock').mockImplementation(() => Date.now() + day - 10_000);
    try {
      expect((await poll(target, id)).output.task_status).toBe('SUCCEEDED');
      later.mockImplementation(() => Date.now() + day);
      expect((await poll(target, id)).output).toEqual({ task_id: id, task_status: 'UNKNOWN' });
    } finally {
      later.mockRestore();
    }
  });

  test('creates one task per idempotency key', async () => {
    const send = (body: object) =>
      post(target.url, target.key, videoPath, body, { headers: { 'idempotency-key': 'k-1' } });
    const [first, repeated] = [await (await send(request)).json(), await (await send(request)).json()];
    expect((repeated as NativeTask).output).toEqual((first as NativeTask).output);
    expect(upstream.changes).toHaveLength(1);
    const other = await send({ ...request, input: { prompt: 'A car.' } });
    expect([other.status, ((await other.json()) as { error: { code: string } }).error.code]).toEqual([
      400,
      'idempotency_key_reused',
    ]);
  });

  describe('a model outside the catalog', () => {
    const acme = { model: 'acme-video', input: { prompt: 'A boat.' }, parameters: { duration: 3 } };
    const generic = { model: 'acme-video', prompt: 'A boat.', seconds: '3' };

    test('is available if a channel lists it', async () => {
      upstream.polls = [upstream.pollResponse('SUCCEEDED', { video_url: videoUrl }, usage)];
      const { output } = await waitForFinal(target, await submit(target, videoPath, acme));
      expect(output.video_url).toBe(videoUrl);
      expect(await lastRow()).toEqual({ state: 'settled', reserved: 3, charged: 4, unit: 'seconds' });
      for (const path of ['/v1/videos', '/v1/video/generations']) {
        upstream.seen.length = 0;
        expect((await post(target.url, target.key, path, generic)).status).toBe(200);
        expect(createdBody()).toEqual({
          model: 'acme-video',
          input: { prompt: 'A boat.' },
          parameters: { duration: 3 },
        });
      }
    });

    test('is forbidden if the key’s group does not have it', async () => {
      const { key } = await makeKey(target, { quota: 1000, group: 'trial' });
      for (const [path, body] of [
        [videoPath, acme],
        ['/v1/videos', generic],
        ['/v1/video/generations', generic],
      ] as const) {
        const refused = await post(target.url, key, path, body);
        expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
          403,
          'access_denied',
        ]);
      }
      expect(upstream.changes).toEqual([]);
    });

    test('does not exist if no channel lists it, whatever its wildcards', async () => {
      const refused = await post(target.url, target.key, videoPath, { ...acme, model: 'other-video' });
      expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
        404,
        'model_not_found',
      ]);
    });
  });
});
