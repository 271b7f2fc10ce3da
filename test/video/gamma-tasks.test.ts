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

const film = 'https://files.example/boat.mp4?signature=1';
const cat = 'https://files.example/cat.png';
const usage = {
  video_count: 1,
  duration: 4,
  input_video_duration: 0,
  output_video_duration: 4,
  fps: 30,
  SR: '720',
  ratio: '16:9',
};
const boat = { model: 'gamma3.0-video', input: { prompt: 'A boat.' }, parameters: { duration: 5 } };

let upstream: NativeUpstream;
let target: TestGateway;

async function start(): Promise<void> {
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

async function stop(): Promise<void> {
  await target.close();
  await upstream.close();
}

beforeEach(() => {
  upstream.reset();
  // What one test has the provider say holds nobody back in the next.
  for (const name of target.gateway.channels.names) target.gateway.channels.named(name)?.health.reset();
});

const lastRow = async () => (await ledgerRows(target)).at(-1);
const lastLog = async () => (await logRows(target)).at(-1);
const createdBody = () => upstream.changes[0]?.body;

describe('the books', () => {
  beforeAll(() => start());
  afterAll(stop);

  async function made(): Promise<{ id: string; key: string; quota: () => Promise<number> }> {
    const { key, id: token } = await makeKey(target, { quota: 1000, group: 'trial' });
    const response = await post(target.url, key, videoPath, boat);
    const { output } = (await response.json()) as NativeTask;
    expect([response.status, output.task_status]).toEqual([200, 'PENDING']);
    return { id: output.task_id, key, quota: () => remainingQuota(target, token) };
  }

  const ended = (id: string, key: string) =>
    vi.waitFor(
      async () => {
        const task = await poll(target, id, key);
        if (['PENDING', 'RUNNING'].includes(task.output.task_status)) throw new Error('it is not final');
        return task;
      },
      { timeout: 15_000, interval: 50 },
    );

  test('hold what was asked for and charge what the provider tells', async () => {
    upstream.polls = [
      upstream.pollResponse('RUNNING'),
      upstream.pollResponse('SUCCEEDED', { video_url: film }, usage),
    ];
    const { id, key, quota } = await made();
    expect(await quota()).toBe(1000 - 5 * 10 * 2);
    await ended(id, key);
    expect(await quota()).toBe(1000 - 4 * 10 * 2);
    expect(await lastRow()).toEqual({ state: 'settled', reserved: 100, charged: 80, unit: 'seconds' });
    expect(await lastLog()).toMatchObject({
      operation: 'createNativeVideo',
      channel: 'recording',
      units: 4,
      quota: 80,
    });
  });

  test('charge what was held where the provider tells nothing', async () => {
    upstream.polls = [upstream.pollResponse('SUCCEEDED', { video_url: film })];
    const { id, key, quota } = await made();
    await ended(id, key);
    expect(await quota()).toBe(900);
  });

  test('give everything back when the provider rejects', async () => {
    upstream.create = {
      status: 400,
      body: { code: 'DataInspectionFailed', message: 'Unsuitable.', request_id: 'r' },
    };
    const { key, id } = await makeKey(target, { quota: 1000, group: 'trial' });
    expect((await post(target.url, key, videoPath, boat)).status).toBe(400);
    expect(await remainingQuota(target, id)).toBe(1000);
    expect(await lastRow()).toMatchObject({ state: 'refunded', charged: null });
    expect(await lastLog()).toMatchObject({ status: 400, quota: 0, units: 0 });
  });

  test('give everything back when the task fails', async () => {
    upstream.polls = [
      upstream.pollResponse('FAILED', { code: 'DataInspectionFailed', message: 'Unsuitable.' }),
    ];
    const { id, key, quota } = await made();
    expect((await ended(id, key)).output).toMatchObject({
      task_status: 'FAILED',
      code: 'DataInspectionFailed',
      message: 'Unsuitable.',
    });
    expect(await quota()).toBe(1000);
    expect(await lastRow()).toMatchObject({ state: 'refunded', charged: null });
  });

  test('give everything back when the task is canceled', async () => {
    const { id, key, quota } = await made();
    const canceled = await cancel(target, id, key);
    expect(canceled.status).toBe(200);
    expectSchema('NativeCancelReply', await canceled.json());
    expect(await quota()).toBe(1000);
    expect((await poll(target, id, key)).output).toMatchObject({ task_id: id, task_status: 'CANCELED' });
    expect(await lastRow()).toMatchObject({ state: 'refunded', charged: null });
  });

  test('hold the longest video for a duration of -1, which a poor key cannot pay', async () => {
    const smart = { ...boat, parameters: { duration: -1 } };
    const { key } = await makeKey(target, { quota: 30 * 10 * 2 - 1, group: 'trial' });
    const refused = await post(target.url, key, videoPath, smart);
    expect(refused.status).toBe(403);
    expect(((await refused.json()) as { error: { code: string } }).error.code).toBe(
      'insufficient_user_quota',
    );
    expect(upstream.changes).toEqual([]);
    const rich = await makeKey(target, { quota: 30 * 10 * 2, group: 'trial' });
    expect((await post(target.url, rich.key, videoPath, smart)).status).toBe(200);
    expect(await remainingQuota(target, rich.id)).toBe(0);
  });
});

describe('the native route', () => {
  beforeAll(() => start());
  afterAll(stop);

  test('sends the client’s body with the upstream’s name of the model', async () => {
    const body = {
      model: 'gamma3.0-video',
      input: { prompt: 'A boat.', media: [{ type: 'first_frame', url: cat }], mood: 'calm' },
      parameters: { seed: 0, audio: false, watermark: false, prompt_extend: false, style: 'x' },
    };
    await submit(target, videoPath, body);
    expect(createdBody()).toEqual({ ...body, model: 'vendor-video' });
    expect(upstream.changes[0]?.headers['x-native-async']).toBe('enable');
  });

  test.each(['/v1/video/generations', '/v1/videos'])('is spoken by %s', async (path) => {
    const body = {
      model: 'gamma3.0-video',
      prompt: 'A boat.',
      images: [cat, 'data:image/jpeg;base64,AAAA'],
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
          { type: 'first_frame', url: cat },
          { type: 'last_frame', url: 'data:image/jpeg;base64,AAAA' },
        ],
      },
      parameters: { seed: 0, audio: false, ratio: '1:1', resolution: '720P', duration: 4 },
    });
    expect(await lastRow()).toMatchObject({ reserved: 40 });
  });

  test('shows a task from its start to its end, without the upstream’s id', async () => {
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
          video_url: film,
        },
        usage,
      ),
    ];
    const id = await submit(target, videoPath, boat);
    const first = await poll(target, id);
    const written = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/);
    expect(first.output).toEqual({ task_id: id, task_status: 'PENDING', submit_time: written });
    const seen = new Set<string>();
    const submitted = new Set<string | undefined>();
    const done = await vi.waitFor(
      async () => {
        const task = await poll(target, id);
        seen.add(JSON.stringify(task));
        submitted.add(task.output.submit_time);
        expect(task.output.task_status).toBe('SUCCEEDED');
        return task;
      },
      { timeout: 15_000, interval: 20 },
    );
    expect(done).toEqual({
      request_id: expect.stringMatching(/^req_/),
      output: {
        task_id: id,
        task_status: 'SUCCEEDED',
        // Whatever the provider tells, and in whatever zone: what was told once does not change.
        submit_time: first.output.submit_time,
        scheduled_time: written,
        end_time: written,
        orig_prompt: 'A boat.',
        video_url: film,
      },
      usage: { ...usage, SR: 720 },
    });
    expect([...submitted]).toEqual([first.output.submit_time]);
    const all = [...seen].join('');
    for (const status of ['PENDING', 'RUNNING', 'SUCCEEDED']) expect(all).toContain(`"${status}"`);
    expect(all).not.toContain(upstream.id);
    expect(all).not.toContain(upstream.url);
  });

  test('tells when it was submitted and when it ended, in UTC', async () => {
    upstream.polls = [upstream.pollResponse('SUCCEEDED', { video_url: film })];
    const { output } = await waitForFinal(target, await submit(target, videoPath, boat));
    const ageOf = (time = '') => Date.now() - Date.parse(`${time.replace(' ', 'T')}Z`);
    for (const time of [output.submit_time, output.end_time]) expect(ageOf(time)).toBeLessThan(60_000);
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
  ])('passes a refusal of %i on unchanged', async (status, body, shown = status) => {
    const text = JSON.stringify(body, null, 1);
    upstream.create = { status, body: text };
    const response = await post(target.url, target.key, videoPath, boat);
    expect([response.status, await response.text()]).toEqual([shown, text]);
    expect(response.headers.get('content-type')).toContain('application/json');
  });

  test.each([
    ['7', '7'],
    ['3600', '300'],
    ['1e308', '1'],
    [undefined, '1'],
  ])('passes throttling on with a retry-after, here %s', async (told, passed) => {
    upstream.create = {
      status: 429,
      body: { code: 'Throttling.RateQuota', message: 'Slow down.', request_id: 'r' },
      headers: told === undefined ? {} : { 'retry-after': told },
    };
    const response = await post(target.url, target.key, videoPath, boat);
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, passed]);
    expect(await response.json()).toEqual({
      code: 'Throttling.RateQuota',
      message: 'Slow down.',
      request_id: 'r',
    });
  });

  test.each([
    ['garbage', { body: '<html>' }, 502],
    ['no task id', { body: { output: {} } }, 502],
    ['401', { status: 401, body: { code: 'InvalidApiKey', message: 'upstream-key' } }, 502],
    ['403', { status: 403, body: { code: 'AccessDenied', message: 'upstream-key' } }, 502],
    ['a broken connection', { disconnects: true }, 502],
  ])('answers %s with its own error, and charges nothing', async (_, answer, status) => {
    upstream.create = answer;
    const response = await post(target.url, target.key, videoPath, boat);
    const text = await response.text();
    expect(response.status, text).toBe(status);
    expectSchema('GenericError', JSON.parse(text));
    expect(text).not.toMatch(/10\.0\.0\.1|upstream-key|127\.0\.0\.1/);
    expect(await lastRow()).toMatchObject({ state: 'refunded' });
    expect(upstream.changes).toHaveLength(1);
  });

  const reported = {
    code: 'InternalError',
    message: 'Failed, see https://help.vendor.com/e.',
    request_id: 'r-6',
  };
  test.each([
    ['with its own words', 500, reported, 502, reported],
    ['as it is away', 503, reported, 503, reported],
    ['as it takes too long', 504, reported, 504, reported],
    [
      'with private words and other fields',
      500,
      { ...reported, message: 'host 10.0.0.1, upstream-key', trace: 'at 10.0.0.1' },
      502,
      { ...reported, message: 'host ***, ***' },
    ],
    [
      'without a request id',
      500,
      { code: 'InternalError', message: 'Failed.' },
      502,
      { code: 'InternalError', message: 'Failed.', request_id: expect.stringMatching(/^req_/) },
    ],
    [
      'with words about the account',
      500,
      { ...reported, code: 'Arrearage', message: 'Account 1234 owes money.' },
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
      'as it is away, without words',
      503,
      {},
      503,
      { code: 'get_channel_failed', message: 'The provider is not available now.' },
    ],
  ])('a provider that fails %s answers in the native form: %i', async (_, status, body, shown, expected) => {
    upstream.create = { status, body };
    const response = await post(target.url, target.key, videoPath, boat);
    const told: unknown = await response.json();
    expect([response.status, told]).toEqual([shown, expect.objectContaining(expected)]);
    expectSchema('NativeError', told);
    expect(Object.keys(told as object).toSorted()).toEqual(['code', 'message', 'request_id']);
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    expect(await lastRow()).toMatchObject({ state: 'refunded' });
  });

  test('a provider that fails answers in the generic form elsewhere', async () => {
    upstream.create = { status: 500, body: reported };
    const response = await post(target.url, target.key, '/v1/videos', {
      model: boat.model,
      prompt: 'A boat.',
    });
    expect([response.status, await response.json()]).toEqual([
      502,
      { error: expect.objectContaining({ code: 'bad_response_status_code' }) },
    ]);
  });

  test('goes on asking through bad polls', async () => {
    upstream.polls = [
      { body: '<html>' },
      upstream.pollResponse('DREAMING'),
      upstream.pollResponse('SUCCEEDED', { video_url: film }, usage),
    ];
    const { output } = await waitForFinal(target, await submit(target, videoPath, boat));
    expect(output.task_status).toBe('SUCCEEDED');
    expect(await lastRow()).toMatchObject({ state: 'settled', charged: 40 });
  });

  test('does not cancel what runs, nor what is over', async () => {
    upstream.cancel = {
      status: 400,
      body: { code: 'UnsupportedOperation', message: 'No.', request_id: 'r' },
    };
    const id = await submit(target, videoPath, boat);
    const refused = await cancel(target, id);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { code: 'UnsupportedOperation' } });
    upstream.polls = [upstream.pollResponse('SUCCEEDED', { video_url: film }, usage)];
    await waitForFinal(target, id);
    const asked = upstream.changes.length;
    expect((await cancel(target, id)).status).toBe(400);
    expect(upstream.changes).toHaveLength(asked);
  });

  test('tells a cancellation that the provider did not answer, and goes on', async () => {
    upstream.cancel = { disconnects: true };
    const id = await submit(target, videoPath, boat);
    expect((await cancel(target, id)).status).toBe(502);
    upstream.polls = [upstream.pollResponse('SUCCEEDED', { video_url: film }, usage)];
    expect((await waitForFinal(target, id)).output.task_status).toBe('SUCCEEDED');
  });

  test('knows neither strange ids, nor others’ tasks, nor those of other paths', async () => {
    const id = await submit(target, videoPath, boat);
    const user = await target.gateway.store.run('createUser', { name: 'other', group: 'default', now: 1 });
    const { key } = await makeKey(target, { quota: 1000, userId: user.id });
    const generic = await post(target.url, target.key, '/v1/videos', {
      model: 'gamma3.0-video',
      prompt: 'A boat.',
    });
    const { id: video } = (await generic.json()) as { id: string };
    for (const [name, by] of [
      ['task_nobody', target.key],
      [upstream.id, target.key],
      [video, target.key],
      [id, key],
    ] as const) {
      expect((await poll(target, name, by)).output).toEqual({ task_id: name, task_status: 'UNKNOWN' });
      const refused = await cancel(target, name, by);
      expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
        404,
        'resource_not_found',
      ]);
    }
  });

  test('forgets a task 24 hours after its end', async () => {
    upstream.polls = [upstream.pollResponse('SUCCEEDED', { video_url: film }, usage)];
    const id = await submit(target, videoPath, boat);
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

  test('makes one task for one idempotency key', async () => {
    const send = (body: object) =>
      post(target.url, target.key, videoPath, body, { headers: { 'idempotency-key': 'k-1' } });
    const [first, again] = [await (await send(boat)).json(), await (await send(boat)).json()];
    expect((again as NativeTask).output).toEqual((first as NativeTask).output);
    expect(upstream.changes).toHaveLength(1);
    const other = await send({ ...boat, input: { prompt: 'A car.' } });
    expect([other.status, ((await other.json()) as { error: { code: string } }).error.code]).toEqual([
      400,
      'idempotency_key_reused',
    ]);
  });

  describe('a model beyond the catalogue', () => {
    const acme = { model: 'acme-video', input: { prompt: 'A boat.' }, parameters: { duration: 3 } };
    const generic = { model: 'acme-video', prompt: 'A boat.', seconds: '3' };

    test('works where a channel lists it', async () => {
      upstream.polls = [upstream.pollResponse('SUCCEEDED', { video_url: film }, usage)];
      const { output } = await waitForFinal(target, await submit(target, videoPath, acme));
      expect(output.video_url).toBe(film);
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

    test('is forbidden where the key’s group does not have it', async () => {
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

    test('does not exist where no channel lists it, whatever its wildcards', async () => {
      const refused = await post(target.url, target.key, videoPath, { ...acme, model: 'other-video' });
      expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
        404,
        'model_not_found',
      ]);
    });
  });
});
