import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Channel } from '../../server/channels/channel.ts';
import { nativeModel3d, nativeModel3dRequest } from '../../server/providers/native/model3d.ts';
import { nativeDriver } from '../../server/providers/native/tasks.ts';
import { nativeVideo } from '../../server/providers/native/video-result.ts';
import { type AcceptedTask, DriverError } from '../../server/tasks/driver.ts';
import { acceptedTask } from '../support/accepted-task.ts';
import { channelTo } from '../support/upstream.ts';
import { NativeUpstream, type ScriptedResponse } from './native-upstream.ts';

const video = nativeDriver(nativeVideo);
const model3d = nativeDriver(nativeModel3d);
const videoUrl = 'https://files.example/boat.mp4?signature=1';
const timestamps = {
  submit_time: '2026-03-01 12:00:00.000',
  scheduled_time: '2026-03-01 12:00:01.250',
  end_time: '2026-03-01 12:01:30.500',
};

let upstream: NativeUpstream;
let channel: Channel;
const signal = AbortSignal.timeout(60_000);
beforeAll(async () => {
  upstream = await NativeUpstream.start();
  const models = [{ id: 'gamma3.0-video', upstream: 'vendor-video' }];
  channel = new Channel(channelTo(upstream.url, { models }), Date.now);
});
beforeEach(() => upstream.reset());
afterAll(async () => {
  await channel.close();
  await upstream.close();
});

const task = (change: Partial<AcceptedTask> = {}) => acceptedTask({ upstreamId: upstream.id, ...change });

function poll(scripted: ScriptedResponse, change: Partial<AcceptedTask> = {}, driver = video) {
  upstream.polls = [scripted];
  return driver.poll(task(change), { channel, signal });
}

async function errorOf(action: Promise<unknown>): Promise<DriverError> {
  const error = await action.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof DriverError)) throw new Error(`not a driver's error: ${String(error)}`);
  return error;
}

describe('a submission', () => {
  test.each([
    [video, '/api/v1/services/aigc/video-generation/video-synthesis'],
    [model3d, '/api/v1/services/aigc/video-generation/3d-generation'],
  ])('is sent to its path, asynchronous and with the upstream’s model name %#', async (driver, path) => {
    const request = { input: { prompt: 'A boat.' }, parameters: { seed: 0 } };
    expect(await driver.submit(task(), request, { channel, signal })).toEqual({ upstreamId: upstream.id });
    const [seen] = upstream.seen;
    expect([seen?.method, seen?.path]).toEqual(['POST', path]);
    expect(seen?.headers['x-native-async']).toBe('enable');
    expect(seen?.headers.authorization).toBe('Bearer upstream-key');
    expect(seen?.body).toEqual({ model: 'vendor-video', ...request });
  });

  test.each<[string, ScriptedResponse, string]>([
    ['HTML', { body: '<html>' }, 'unknown'],
    ['an empty body', { body: '' }, 'unknown'],
    ['null', { body: 'null' }, 'unknown'],
    ['no task id', { body: { output: { task_status: 'PENDING' } } }, 'unknown'],
    ['an empty task id', { body: { output: { task_id: '' } } }, 'unknown'],
    ['a task id of 257 characters', { body: { output: { task_id: 'x'.repeat(257) } } }, 'unknown'],
    ['a task id with a path segment', { body: { output: { task_id: '..' } } }, 'unknown'],
    ['a task id with a NUL', { body: { output: { task_id: 'a\0b' } } }, 'unknown'],
    ['a task id with a lone surrogate', { body: { output: { task_id: 'a\ud800' } } }, 'unknown'],
    ['a task id that is a number', { body: { output: { task_id: 7 } } }, 'unknown'],
    ['an output that is a list', { body: { output: [] } }, 'unknown'],
    ['500', { status: 500, body: { code: 'InternalError', message: 'db at 10.0.0.1' } }, 'unknown'],
    ['401', { status: 401, body: { code: 'InvalidApiKey', message: 'upstream-key' } }, 'retryable'],
    ['403', { status: 403, body: { code: 'AccessDenied', message: 'no' } }, 'retryable'],
    ['429', { status: 429, body: { code: 'Throttling', message: 'slow' } }, 'retryable'],
    ['503', { status: 503, body: {} }, 'retryable'],
    ['400', { status: 400, body: { code: 'InvalidParameter', message: 'bad' } }, 'rejected'],
  ])('with the response %s fails as %s', async (_, scripted, kind) => {
    upstream.create = scripted;
    const error = await errorOf(video.submit(task(), {}, { channel, signal }));
    expect(error.kind).toBe(kind);
    expect(error.message).not.toMatch(/10\.0\.0\.1|upstream-key/);
  });
});

describe('a poll', () => {
  test.each([
    ['PENDING', 'queued'],
    ['SUSPENDED', 'queued'],
    ['RUNNING', 'in_progress'],
  ])('with status %s returns %s', async (status, state) => {
    expect(await poll(upstream.pollResponse(status, timestamps))).toEqual({
      state,
      ...(state === 'in_progress' && { progress: 50 }),
    });
    expect(upstream.seen.map(({ method, path }) => [method, path])).toEqual([
      ['GET', `/api/v1/tasks/${upstream.id}`],
    ]);
  });

  test('with SUCCEEDED returns the video, its facts and its usage, without the id', async () => {
    const usage = {
      video_count: '1',
      duration: 7.5,
      input_video_duration: '2.5',
      output_video_duration: 5,
      fps: 30.0,
      SR: '1080',
      ratio: '16:9',
      tokens: 12,
    };
    const output = {
      ...timestamps,
      orig_prompt: 'A boat.',
      actual_prompt: 'A red boat.',
      video_url: videoUrl,
      host: 'inner',
    };
    const expectedUsage = {
      video_count: 1,
      duration: 7.5,
      input_video_duration: 2.5,
      output_video_duration: 5,
      fps: 30,
      SR: 1080,
      ratio: '16:9',
    };
    const snapshot = await poll(upstream.pollResponse('SUCCEEDED', output, usage));
    expect(snapshot).toEqual({
      state: 'completed',
      usage: { units: 5 },
      report: { fields: { resolution: '1080P', ratio: '16:9' }, ignored: {} },
      result: {
        video_url: videoUrl,
        metadata: {
          url: videoUrl,
          request_id: 'upstream-request',
          orig_prompt: 'A boat.',
          usage: expectedUsage,
          duration: 5,
          duration_seconds: 5,
          resolution: '1080P',
          ratio: '16:9',
        },
        native: {
          output: { orig_prompt: 'A boat.', actual_prompt: 'A red boat.', video_url: videoUrl },
          usage: expectedUsage,
        },
      },
    });
    expect(JSON.stringify(snapshot)).not.toContain(upstream.id);
  });

  test.each<[object | undefined, number | undefined]>([
    [{ output_video_duration: 4.2, duration: 9 }, 4.2],
    [{ output_video_duration: '6' }, 6],
    [{ duration: 9, input_video_duration: 4 }, 5],
    [{ duration: 5, SR: '720P' }, 5],
    [{ duration: 1, input_video_duration: 4 }, 0],
    [{ output_video_duration: -3 }, undefined],
    [{ output_video_duration: 'long', fps: 0, SR: 'x', video_count: null }, undefined],
    [{}, undefined],
    [undefined, undefined],
  ])('with usage %j charges %s seconds', async (usage, units) => {
    const snapshot = await poll(upstream.pollResponse('SUCCEEDED', { video_url: videoUrl }, usage));
    expect(snapshot).toMatchObject({ state: 'completed' });
    expect('usage' in snapshot ? snapshot.usage?.units : undefined).toBe(units);
  });

  test('with SUCCEEDED drops invalid usage and truncates long prompts', async () => {
    const usage = { video_count: 0, fps: 0, SR: '720P', input_video_duration: 0, duration: -1, ratio: 7 };
    const output = { video_url: videoUrl, orig_prompt: 'a'.repeat(20_001), actual_prompt: '' };
    const expectedUsage = { video_count: 0, SR: 720, input_video_duration: 0 };
    const prompt = { orig_prompt: 'a'.repeat(20_000) };
    expect(await poll(upstream.pollResponse('SUCCEEDED', output, usage))).toEqual({
      state: 'completed',
      report: { fields: { resolution: '720P' }, ignored: { ratio: 7 } },
      result: {
        video_url: videoUrl,
        metadata: {
          url: videoUrl,
          request_id: 'upstream-request',
          ...prompt,
          usage: expectedUsage,
          resolution: '720P',
        },
        native: { output: { ...prompt, video_url: videoUrl }, usage: expectedUsage },
      },
    });
    const withoutFacts = await poll(upstream.pollResponse('SUCCEEDED', { video_url: videoUrl }));
    expect(withoutFacts).toEqual({
      state: 'completed',
      result: {
        video_url: videoUrl,
        metadata: { url: videoUrl, request_id: 'upstream-request' },
        native: { output: { video_url: videoUrl } },
      },
    });
  });

  test.each([[{}], [{ video_url: '' }], [{ video_url: 'javascript:alert(1)' }], [{ video_url: 7 }]])(
    'with SUCCEEDED but no video, as in %j, returns a failure',
    async (output) => {
      expect(await poll(upstream.pollResponse('SUCCEEDED', output))).toMatchObject({
        state: 'failed',
        error: { code: 'InternalError' },
      });
    },
  );

  test('with FAILED returns the provider’s message without its id', async () => {
    const message = `Task ${upstream.id} may contain unsuitable content.`;
    expect(
      await poll(upstream.pollResponse('FAILED', { ...timestamps, code: 'DataInspectionFailed', message })),
    ).toEqual({
      state: 'failed',
      error: { code: 'DataInspectionFailed', message: 'Task task_public may contain unsuitable content.' },
    });
  });

  test('with FAILED and a very long message truncates it, and removes the id from the code', async () => {
    const scripted = upstream.pollResponse('FAILED', {
      code: `c-${upstream.id}`,
      message: upstream.id.repeat(100_000),
    });
    const snapshot = await poll(scripted);
    expect(snapshot).toMatchObject({ error: { code: 'c-task_public' } });
    expect(JSON.stringify(snapshot).length).toBeLessThan(10_000);
    expect(JSON.stringify(snapshot)).not.toContain(upstream.id);
  });

  test('with FAILED and no message uses the gateway’s message', async () => {
    expect(await poll(upstream.pollResponse('FAILED'))).toMatchObject({
      error: { code: 'InternalError', message: 'The provider could not finish the task.' },
    });
  });

  test.each<[string, ScriptedResponse, string]>([
    ['CANCELED', { body: { output: { task_status: 'CANCELED' } } }, 'task_canceled'],
    ['UNKNOWN', { body: { output: { task_status: 'UNKNOWN' } } }, 'task_lost'],
    ['404', { status: 404, body: { code: 'NotFound', message: 'x' } }, 'task_lost'],
    ['410', { status: 410, body: { code: 'Gone', message: 'x' } }, 'task_lost'],
  ])('with %s returns a failure', async (_, scripted, code) => {
    expect(await poll(scripted)).toMatchObject({ state: 'failed', error: { code } });
  });

  test.each(['queued', 'in_progress'] as const)(
    'with an unknown status leaves the task %s',
    async (state) => {
      for (const status of ['DREAMING', '', 7, null, {}]) {
        expect(await poll({ body: { output: { task_status: status } } }, { state })).toEqual({ state });
      }
    },
  );

  test.each<[string, ScriptedResponse, string]>([
    ['invalid JSON', { body: '{"output": {' }, 'unknown'],
    ['an empty body', { body: '' }, 'unknown'],
    ['a list', { body: [] }, 'unknown'],
    ['no output', { body: { request_id: 'r' } }, 'unknown'],
    ['500', { status: 500, body: {} }, 'unknown'],
    ['302', { status: 302, body: {} }, 'unknown'],
    ['400', { status: 400, body: { code: 'InvalidParameter', message: 'x' } }, 'unknown'],
    ['401', { status: 401, body: {} }, 'retryable'],
    ['429', { status: 429, body: {}, headers: { 'retry-after': '3' } }, 'retryable'],
    ['503', { status: 503, body: {} }, 'retryable'],
  ])('with the response %s is retried', async (_, scripted, kind) => {
    expect((await errorOf(poll(scripted))).kind).toBe(kind);
  });

  test('with special characters in the id encodes them', async () => {
    await expect(
      video.poll(task({ upstreamId: '../v1/keys?x=1' }), { channel, signal }),
    ).resolves.toMatchObject({ state: 'failed' });
    expect(upstream.seen[0]?.path).toBe('/api/v1/tasks/..%2Fv1%2Fkeys%3Fx%3D1');
  });
});

describe('a poll of a 3D task', () => {
  const pbr_model_url = 'https://files.example/horse.glb';
  const rendered_image_url = 'https://files.example/horse.webp';

  test('returns the files for two hours, and one action', async () => {
    const results = { pbr_model_url, rendered_image_url, inner_url: 'https://inner.example/' };
    const snapshot = await poll(upstream.pollResponse('SUCCEEDED', { ...timestamps, results }), {}, model3d);
    expect(snapshot).toMatchObject({
      state: 'completed',
      usage: { units: 1 },
      resultMs: 7_200_000,
      result: { native: { output: { results: { pbr_model_url, rendered_image_url } } } },
    });
    expect(JSON.stringify(snapshot)).not.toContain('inner');
  });

  test('with only the plain model completes, and returns its prompt', async () => {
    const results = { base_model_url: pbr_model_url };
    expect(
      await poll(upstream.pollResponse('SUCCEEDED', { orig_prompt: 'A horse.', results }), {}, model3d),
    ).toEqual({
      state: 'completed',
      usage: { units: 1 },
      resultMs: 7_200_000,
      result: { native: { output: { orig_prompt: 'A horse.', results } } },
    });
  });

  test('counts one action for a request', () => {
    const input = { prompt: 'A horse.' };
    const translated = nativeModel3dRequest({ model: 'theta-3d', input, parameters: {} });
    expect(translated).toEqual({
      body: { input, parameters: {} },
      facts: { prompt: 'A horse.' },
      expectedUnits: 1,
    });
    const images = { image: 'https://files.example/a.png' };
    expect(nativeModel3dRequest({ model: 'theta-3d', input: images }).facts).toEqual({});
  });

  test.each([
    [{}],
    [{ results: {} }],
    [{ results: { rendered_image_url } }],
    [{ results: { pbr_model_url: 'x' } }],
  ])('with no model, as in %j, returns a failure', async (output) => {
    expect(await poll(upstream.pollResponse('SUCCEEDED', output), {}, model3d)).toMatchObject({
      state: 'failed',
    });
  });
});

describe('a cancellation', () => {
  test('is sent to the path of the task', async () => {
    await video.cancel?.(task(), { channel, signal });
    expect(upstream.seen.map(({ method, path }) => [method, path])).toEqual([
      ['POST', `/api/v1/tasks/${upstream.id}/cancel`],
    ]);
  });

  test('that is too late is a rejection', async () => {
    upstream.cancel = { status: 400, body: { code: 'UnsupportedOperation', message: 'running' } };
    const error = await errorOf(Promise.resolve(video.cancel?.(task(), { channel, signal })));
    expect(error.kind).toBe('rejected');
  });
});
