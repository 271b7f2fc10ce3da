import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { TaskFailedError, type Unigate, UnigateError } from '../../client/index.ts';
import { json, stubClient } from './stub-fetch.ts';

const id = 'task_1';
const url = 'https://files.example/result';

const video = (status: string, more: object = {}) => ({
  id,
  task_id: id,
  object: 'video',
  status,
  progress: 0,
  ...more,
});
const record = (status: string, more: object = {}) => ({
  code: 'success',
  message: '',
  data: { task_id: id, status, ...more },
});
const native = (task_status: string, more: object = {}) => ({
  request_id: 'r',
  output: { task_id: id, task_status, ...more },
});
const official = (status: string, more: object = {}) => ({ id, model: 'm', status, ...more });
const asset = (Status: string, more: object = {}) => ({
  code: 0,
  message: 'success',
  data: { Id: 'asset-1-a', Status, ...more },
});

type Outcome = Promise<object>;

const music = (status: string, progress = '0%', data: unknown = [], action = 'MUSIC') => ({
  code: 'success',
  message: '',
  data: { task_id: id, action, status, progress, fail_reason: '', data },
});
const songs = [{ id: 'clip-1', clip_id: 'clip-1', title: 'Low tide', audio_url: url }];
const words = { id: 'l', status: 'complete', title: 'Low tide', text: '[Verse]' };
const lyrics = (status: string, data: unknown = null) => music(status, '0%', data, 'LYRICS');
const image = (status: string, progress = '0%', more: object = {}) => ({
  id,
  action: 'IMAGINE',
  status,
  progress,
  ...more,
});
const failed = (record: ReturnType<typeof music>, fail_reason: string) => ({
  ...record,
  data: { ...record.data, fail_reason },
});

interface Family {
  name: string;
  /** Creates a task and waits for it. */
  run(
    client: Unigate,
    onProgress: (reported: { status: string; percent?: number | undefined }) => void,
  ): Outcome;
  created: object;
  /** Method and path of the create call and of the poll. */
  calls: [string, string];
  running: object[];
  reported: [string, number | undefined][];
  done: object;
  /** Result of the wait. Default: the task as the gateway returns it. */
  result?: unknown;
  /** Final states without a result, with the expected code and message. */
  failures: [object, string, string][];
}

const nativePolls = {
  created: native('PENDING'),
  running: [native('PENDING'), native('RUNNING'), native('SUSPENDED')],
  reported: [
    ['PENDING', undefined],
    ['RUNNING', undefined],
    ['SUSPENDED', undefined],
    ['SUCCEEDED', undefined],
  ] satisfies Family['reported'],
  failures: [
    [native('FAILED', { code: 'DataInspectionFailed', message: 'Bad.' }), 'DataInspectionFailed', 'Bad.'],
    [native('CANCELED'), 'CANCELED', 'The task was canceled.'],
    [native('UNKNOWN'), 'UNKNOWN', 'The task does not exist, or is older than a day.'],
  ] satisfies Family['failures'],
};

const families: Family[] = [
  {
    name: 'generations, generic',
    run: (client, onProgress) =>
      client.videoGenerations.createAndWait({ model: 'gamma3.0-video', prompt: 'p' }, { onProgress }),
    created: video('queued'),
    calls: ['POST /v1/video/generations', 'GET /v1/video/generations/task_1'],
    running: [video('queued'), video('in_progress', { progress: 30 })],
    reported: [
      ['queued', 0],
      ['in_progress', 30],
      ['completed', 100],
    ],
    done: video('completed', { progress: 100, video_url: url }),
    failures: [
      [video('failed', { error: { code: 'c', message: 'm' } }), 'c', 'm'],
      [video('failed', { error: null }), 'video_generation_failed', 'The task failed.'],
    ],
  },
  {
    name: 'generations, Seedance record',
    run: (client, onProgress) =>
      client.videoGenerations.createAndWait(
        { model: 'epsilon-delta-2-0-260128', prompt: 'p' },
        { onProgress },
      ),
    created: video('queued'),
    calls: ['POST /v1/video/generations', 'GET /v1/video/generations/task_1'],
    running: [record('NOT_START'), record('IN_PROGRESS', { progress: '50%' }), record('UNKNOWN')],
    reported: [
      ['NOT_START', undefined],
      ['IN_PROGRESS', 50],
      ['UNKNOWN', 50],
      ['SUCCESS', 100],
    ],
    done: record('SUCCESS', { progress: '100%', result_url: url }),
    failures: [
      [record('FAILURE', { fail_reason: 'Bad.' }), 'FAILURE', 'Bad.'],
      [record('FAILURE'), 'FAILURE', 'The task failed.'],
    ],
  },
  {
    name: 'native video',
    run: (client, onProgress) =>
      client.nativeVideos.createAndWait({ model: 'gamma3.0-video', input: { prompt: 'p' } }, { onProgress }),
    calls: ['POST /api/v1/services/aigc/video-generation/video-synthesis', 'GET /api/v1/tasks/task_1'],
    done: native('SUCCEEDED', { video_url: url }),
    ...nativePolls,
  },
  {
    name: '3D',
    run: (client, onProgress) =>
      client.models3d.createAndWait({ model: 'theta-3d', input: { prompt: 'p' } }, { onProgress }),
    calls: ['POST /api/v1/services/aigc/video-generation/3d-generation', 'GET /api/v1/tasks/task_1'],
    done: native('SUCCEEDED', { results: { pbr_model_url: url } }),
    ...nativePolls,
  },
  {
    name: 'official',
    run: (client, onProgress) =>
      client.officialVideos.createAndWait(
        { model: 'epsilon-delta-2-0-260128', content: [{ type: 'text', text: 'p' }] },
        { onProgress },
      ),
    created: { id },
    calls: ['POST /api/v3/contents/generations/tasks', 'GET /api/v3/contents/generations/tasks/task_1'],
    running: [official('queued'), official('running')],
    reported: [
      ['queued', undefined],
      ['running', undefined],
      ['succeeded', undefined],
    ],
    done: official('succeeded', { content: { video_url: url } }),
    failures: [
      [official('failed', { error: { code: 'c', message: 'm' } }), 'c', 'm'],
      [official('expired', { error: null }), 'expired', 'The task expired.'],
      [official('cancelled'), 'cancelled', 'The task was cancelled.'],
    ],
  },
  {
    name: 'music',
    run: (client, onProgress) => client.music.createAndWait({ prompt: 'p' }, { onProgress }),
    created: { code: 'success', msg: '', data: id },
    calls: ['POST /sigma/submit/music', 'GET /sigma/fetch/task_1'],
    running: [music('SUBMITTED'), music('IN_PROGRESS', '30%'), music('UNKNOWN', '30%')],
    reported: [
      ['SUBMITTED', 0],
      ['IN_PROGRESS', 30],
      ['UNKNOWN', 30],
      ['SUCCESS', 100],
    ],
    done: music('SUCCESS', '100%', songs),
    result: songs,
    failures: [
      [failed(music('FAILURE'), 'Refused.'), 'FAILURE', 'Refused.'],
      [music('FAILURE'), 'FAILURE', 'The task failed.'],
    ],
  },
  {
    name: 'lyrics',
    run: (client, onProgress) => client.lyrics.createAndWait({ prompt: 'p' }, { onProgress }),
    created: { code: 'success', msg: '', data: id },
    calls: ['POST /sigma/submit/lyrics', 'GET /sigma/fetch/task_1'],
    running: [lyrics('QUEUED')],
    reported: [
      ['QUEUED', 0],
      ['SUCCESS', 0],
    ],
    done: lyrics('SUCCESS', words),
    result: lyrics('SUCCESS', words).data,
    failures: [[failed(lyrics('FAILURE'), 'No.'), 'FAILURE', 'No.']],
  },
  {
    name: 'image job',
    run: (client, onProgress) => client.imageJobs.createAndWait({ prompt: 'p' }, { onProgress }),
    created: { code: 22, description: 'In queue', result: id, properties: { numberOfQueues: 1 } },
    calls: ['POST /imgjob/submit/imagine', 'GET /imgjob/task/task_1/fetch'],
    running: [image('SUBMITTED'), image('IN_PROGRESS', '40%')],
    reported: [
      ['SUBMITTED', 0],
      ['IN_PROGRESS', 40],
      ['SUCCESS', 100],
    ],
    done: image('SUCCESS', '100%', { imageUrl: url }),
    failures: [
      [image('FAILURE', '40%', { failReason: 'Held back.' }), 'FAILURE', 'Held back.'],
      [image('FAILURE', '40%', { failReason: null }), 'FAILURE', 'The task failed.'],
      [image('MODAL'), 'MODAL', 'The job waits for modal input.'],
    ],
  },
  {
    name: 'asset',
    run: (client, onProgress) =>
      client.assets.uploadAndWait(
        { url: 'https://files.example/a.png', asset_type: 'Image' },
        { model: 'zeta-delta-2-0-fast-260128', onProgress },
      ),
    created: { code: 0, message: 'success', data: { Id: 'asset-1-a' } },
    calls: [
      'POST /api/assets/upload?model=zeta-delta-2-0-fast-260128',
      'GET /api/assets/asset-1-a?model=zeta-delta-2-0-fast-260128',
    ],
    running: [asset('Processing')],
    reported: [
      ['Processing', undefined],
      ['Active', undefined],
    ],
    done: asset('Active', { URL: url }),
    failures: [
      [asset('Failed', { Error: { Code: 'FaceMismatch', Message: 'No.' } }), 'FaceMismatch', 'No.'],
      [asset('Failed'), 'Failed', 'The asset was rejected.'],
    ],
  },
];

/** Returns the task of a failure: assets, songs and lyrics without their envelope. */
function shown(body: object): unknown {
  if (!('code' in body) || !('data' in body)) return body;
  const record = body.data as object;
  return body.code === 0 || 'action' in record ? record : body;
}

describe.each(families)('$name', ({ run, created, calls, running, reported, done, result, failures }) => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('is created, polled and returned', async () => {
    const { client, fetch } = stubClient([created, ...running, done].map((body) => json(body)));
    const progress: [string, number | undefined][] = [];
    const outcome = run(client, ({ status, percent }) => void progress.push([status, percent]));
    await vi.runAllTimersAsync();
    expect(await outcome).toEqual(result ?? shown(done));
    expect(progress).toEqual(reported);
    const requests = fetch.mock.calls.map(
      ([{ method, url: sent }]) => `${method} ${sent.slice('http://gateway.example'.length)}`,
    );
    expect([...new Set(requests)]).toEqual(calls);
    if (!calls[0].includes('assets'))
      expect(fetch.mock.calls[0]?.[0].headers.get('idempotency-key')).toBeTruthy();
  });

  test.each(failures)('fails: %j', async (failed, code, message) => {
    const { client } = stubClient([created, failed].map((body) => json(body)));
    const outcome = run(client, () => {}).catch((error: unknown) => error);
    await vi.runAllTimersAsync();
    expect(await outcome).toMatchObject({ constructor: TaskFailedError, code, message, task: shown(failed) });
  });
});

describe('the URL of the result', () => {
  const { client } = stubClient([]);

  test.each([
    ['generic', client.videoGenerations.urlOf({ ...generic(), video_url: url })],
    ['3D without materials', client.models3d.urlOf(succeeded({ results: { base_model_url: url } }))],
    ['video', client.nativeVideos.urlOf(succeeded({ video_url: url }))],
    [
      'official',
      client.officialVideos.urlOf({ ...finished(), content: { video_url: url }, outputs: ['no'] }),
    ],
    ['official, in outputs', client.officialVideos.urlOf({ ...finished(), outputs: [url], video_url: 'no' })],
    ['official, at the top', client.officialVideos.urlOf({ ...finished(), video_url: url })],
  ])('%s', (_, found) => {
    expect(found).toBe(url);
  });

  function generic() {
    const fixed = { object: 'video', status: 'completed', model: 'm', progress: 100, created_at: 1 } as const;
    return { id, task_id: id, ...fixed };
  }
  function finished() {
    return { id, model: 'm', status: 'succeeded', created_at: 1, updated_at: 1 } as const;
  }
  function succeeded(more: object) {
    const times = { submit_time: 't', end_time: 't' };
    return { request_id: 'r', output: { task_id: id, task_status: 'SUCCEEDED', ...times, ...more } } as const;
  }
});

describe('a download', () => {
  test('requests the URL of the result without the key', async () => {
    const bytes = () => new Response('GLB', { headers: { 'content-type': 'model/gltf-binary' } });
    const { client, fetch } = stubClient([
      json(native('SUCCEEDED', { results: { pbr_model_url: url } })),
      bytes,
    ]);
    const file = await client.models3d.download(id, { range: 'bytes=0-2' });
    expect(new TextDecoder().decode(await file.bytes())).toBe('GLB');
    expect(file.contentType).toBe('model/gltf-binary');
    const [poll, fetched] = fetch.mock.calls.map(([sent]) => sent);
    expect(poll?.headers.get('authorization')).toBe('Bearer sk-test');
    expect(fetched?.url).toBe(url);
    expect(fetched?.headers.get('authorization')).toBeNull();
    expect(fetched?.headers.get('range')).toBe('bytes=0-2');
  });

  test('of a task without a result reports its state', async () => {
    const { client } = stubClient([json(native('RUNNING'))]);
    await expect(client.nativeVideos.download(id)).rejects.toThrow(
      new UnigateError('task_1 has no file: its status is RUNNING.'),
    );
  });

  test('of an expired URL is an APIError', async () => {
    const expired = () => new Response('<Error>Expired</Error>', { status: 403 });
    const { client } = stubClient([json(native('SUCCEEDED', { video_url: url })), expired]);
    await expect(client.nativeVideos.download(id)).rejects.toMatchObject({
      status: 403,
      message: '<Error>Expired</Error>',
    });
  });
});

test('native tasks can be canceled, official ones deleted', async () => {
  const { client, fetch } = stubClient([
    json({ request_id: 'r' }),
    json({ request_id: 'r' }),
    () => new Response(null, { status: 204 }),
  ]);
  await client.nativeVideos.cancel(id);
  await client.models3d.cancel(id);
  await client.officialVideos.delete(id);
  expect(fetch.mock.calls.map(([sent]) => `${sent.method} ${new URL(sent.url).pathname}`)).toEqual([
    'POST /api/v1/tasks/task_1/cancel',
    'POST /api/v1/tasks/task_1/cancel',
    'DELETE /api/v3/contents/generations/tasks/task_1',
  ]);
});
