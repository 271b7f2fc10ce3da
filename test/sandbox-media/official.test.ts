import { imageSize } from 'image-size';
import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import { describe, expect, test } from 'vitest';
import { dataUrl, imageFiles, png, video, wav } from './media-files.ts';
import { expectSchema, taskDurationMs, useFileHost, useTaskUpstream } from './task-client.ts';

const client = useTaskUpstream({ draft: true });
/** Renders the requested video. */
const careful = useTaskUpstream();
const host = useFileHost();
const path = '/api/v3/contents/generations/tasks';
const standard = 'epsilon-delta-2-0-260128';
const fast = 'epsilon-delta-2-0-fast-260128';
const overseas = 'zeta-delta-2-0-fast-260128';
const modern = 'epsilon-delta-2-5-260628';

interface Task {
  id: string;
  status: string;
  content?: { video_url: string; last_frame_url?: string };
  usage?: { completion_tokens: number; total_tokens: number };
  error: { code: string; message: string } | null;
  duration?: number;
  frames?: number;
  ratio?: string;
  created_at: number;
  updated_at: number;
  [name: string]: unknown;
}

interface ErrorBody {
  error: { code: string; message: string; param: string; type: string };
}

const text = (words = 'A cat walks') => ({ type: 'text', text: words });
const image = (url: string, role?: string) => ({ type: 'image_url', image_url: { url }, role });
const clip = (url: string) => ({ type: 'video_url', video_url: { url }, role: 'reference_video' });
const audio = (url: string) => ({ type: 'audio_url', audio_url: { url }, role: 'reference_audio' });
const remote = 'https://files.example/a';

function request(change: object = {}) {
  return { model: standard, content: [text()], ...change };
}

async function create(change: object = {}, upstream = client): Promise<string> {
  const { status, body } = await upstream.send<{ id: string }>('POST', path, request(change));
  expect(status, JSON.stringify(body)).toBe(200);
  expectSchema('OfficialTaskCreatedReply', body);
  expect(body.id).toMatch(/^cgt-\d{14}-[a-z0-9]{5}$/);
  return body.id;
}

async function poll(id: string): Promise<Task> {
  const { status, body } = await client.send<Task>('GET', `${path}/${id}`);
  expect(status).toBe(200);
  expectSchema('OfficialTask', body);
  return body;
}

async function finish(id: string, { after = taskDurationMs, upstream = client } = {}): Promise<Task> {
  upstream.advance(after);
  const task = await upstream.until<Task>(`${path}/${id}`, ({ status }) => status !== 'running');
  expectSchema('OfficialTask', task);
  return task;
}

async function refused(change: object) {
  const { status, body } = await client.send<ErrorBody>('POST', path, request(change));
  expect(body.error).toEqual({
    code: expect.any(String),
    message: expect.any(String),
    param: expect.any(String),
    type: expect.any(String),
  });
  return { status, ...body.error };
}

describe('task', () => {
  test('is queued, runs and succeeds', async () => {
    const created = Math.floor(client.time / 1000);
    const id = await create({
      safety_identifier: 'user-1',
      resolution: '480p',
      ratio: '21:9',
      seed: 0,
      watermark: true,
    });
    const queued = await poll(id);
    expect(queued).toMatchObject({
      id,
      model: standard,
      status: 'queued',
      error: null,
      created_at: created,
      updated_at: created,
      seed: 0,
      resolution: '480p',
      framespersecond: 24,
      service_tier: 'default',
      execution_expires_after: 172_800,
      generate_audio: true,
      draft: false,
      priority: 0,
      safety_identifier: 'user-1',
    });
    expect(queued).not.toHaveProperty('content');
    client.advance(taskDurationMs / 2);
    expect(await poll(id)).toMatchObject({ status: 'running', updated_at: created + 2 });
    const done = await finish(id, { after: taskDurationMs / 2 });
    expect(done).toMatchObject({
      status: 'succeeded',
      error: null,
      updated_at: created + taskDurationMs / 1000,
      ratio: '21:9',
      duration: 5,
      usage: { completion_tokens: 63_000, total_tokens: 63_000 },
    });
    expect(done.content).toEqual({ video_url: expect.stringMatching(/\.mp4\?/) });
    client.advance(taskDurationMs);
    expect(await poll(id)).toEqual(done);
  });

  test('returns the video and its last frame', async () => {
    const form = { resolution: '480p', ratio: '9:16', duration: 4 };
    const request = { ...form, return_last_frame: true, generate_audio: false };
    const { content } = await finish(await create(request, careful), { upstream: careful });
    const { bytes } = await client.download(content?.video_url ?? '');
    using input = new Input({ formats: ALL_FORMATS, source: new BufferSource(bytes) });
    const track = await input.getPrimaryVideoTrack();
    expect([await track?.getDisplayWidth(), await track?.getDisplayHeight()]).toEqual([480, 854]);
    expect(await track?.computeDuration()).toBeCloseTo(4, 2);
    expect((await track?.computePacketStats())?.averagePacketRate).toBeCloseTo(24, 2);
    expect(await input.getPrimaryAudioTrack()).toBeNull();
    const frame = await client.download(content?.last_frame_url ?? '');
    expect(frame.type).toBe('image/png');
    expect(imageSize(frame.bytes)).toMatchObject({ width: 480, height: 854 });
  });

  test('chooses seed, duration and ratio if the request has none', async () => {
    const url = dataUrl('image/png', png(600, 400));
    const done = await finish(await create({ model: modern, seed: -1, content: [text(), image(url)] }));
    expect(done.seed).toBeGreaterThanOrEqual(0);
    expect(done).toMatchObject({ duration: 4, ratio: '600:400', output_format: 'mp4' });
  });

  test('accepts frames instead of a duration, and renders a QuickTime file', async () => {
    const request = { model: modern, frames: 50, output_format: 'mov', resolution: '480p' };
    const done = await finish(await create(request, careful), { upstream: careful });
    expect(done).toMatchObject({ frames: 50 });
    expect(done).not.toHaveProperty('duration');
    const { bytes, type } = await client.download(done.content?.video_url ?? '');
    expect(type).toBe('video/quicktime');
    using input = new Input({ formats: ALL_FORMATS, source: new BufferSource(bytes) });
    expect((await (await input.getPrimaryVideoTrack())?.computePacketStats())?.packetCount).toBe(50);
  });

  test('edits a video with its duration, and accepts references of all kinds', async () => {
    const url = host.put('source.mp4', await video({ seconds: 6, width: 720, height: 480 }));
    const edit = {
      model: modern,
      omni_reference_task_type: 'edit',
      content: [text('Make it blue'), clip(url)],
    };
    expect(await finish(await create(edit))).toMatchObject({
      status: 'succeeded',
      duration: 6,
      ratio: '720:480',
    });
    const content = [
      text(),
      image(host.put('r.gif', imageFiles.gif(400, 400)), 'reference_image'),
      clip(url),
      audio(host.put('r.wav', wav(2))),
    ];
    expect(await finish(await create({ content }))).toMatchObject({ status: 'succeeded' });
  });

  test('starts from a finished draft', async () => {
    const draft = await create({ draft: true, content: [text('The draft')], resolution: '480p' });
    const content = [{ type: 'draft_task', draft_task: { id: draft } }];
    expect(await refused({ content })).toMatchObject({ status: 400, code: 'InvalidParameter' });
    await finish(draft);
    expect(await finish(await create({ content }))).toMatchObject({
      status: 'succeeded',
      draft_task_id: draft,
    });
  });

  test('expires if it exceeds its lifetime', async () => {
    const id = await create({ content: [text('[[never]]')], execution_expires_after: 3600 });
    client.advance(3_599_999);
    expect(await poll(id)).toMatchObject({ status: 'running' });
    client.advance(1);
    expect(await poll(id)).toMatchObject({ status: 'expired', error: null });
  });

  test('is available for seven days, its video for one day', async () => {
    const id = await create();
    const { content } = await finish(id);
    client.advance(24 * 60 * 60 * 1000);
    expect((await fetch(content?.video_url ?? '')).status).toBe(403);
    client.advance(6 * 24 * 60 * 60 * 1000 - taskDurationMs - 1);
    expect(await poll(id)).toMatchObject({ status: 'succeeded' });
    client.advance(1);
    expect((await client.send('GET', `${path}/${id}`)).status).toBe(404);
  });
});

describe('deleting', () => {
  test('cancels a queued task, removes a finished one and rejects the others', async () => {
    const id = await create();
    const canceled = await client.send('DELETE', `${path}/${id}`);
    expect([canceled.status, canceled.body]).toEqual([200, undefined]);
    expect(await poll(id)).toMatchObject({ status: 'cancelled' });
    expect((await client.send('DELETE', `${path}/${id}`)).status).toBe(400);
    const running = await create();
    client.advance(taskDurationMs / 2);
    expect((await client.send('DELETE', `${path}/${running}`)).status).toBe(400);
    await finish(running);
    expect((await client.send('DELETE', `${path}/${running}`)).status).toBe(200);
    const { status, body } = await client.send<ErrorBody>('DELETE', `${path}/${running}`);
    expect([status, body.error.type]).toEqual([404, 'NotFound']);
  });
});

describe('list', () => {
  test('returns pages of matching tasks, the newest first', async () => {
    const ids = [await create({ model: fast }), await create({ model: fast }), await create({ model: fast })];
    const list = async (query: string) => {
      const { status, body } = await client.send<{ items: Task[]; total: number }>('GET', `${path}?${query}`);
      expect(status).toBe(200);
      expectSchema('OfficialTaskListReply', body);
      return { ids: body.items.map(({ id }) => id), total: body.total };
    };
    expect(await list(`filter.model=${fast}`)).toEqual({ ids: ids.toReversed(), total: 3 });
    expect(await list(`filter.model=${fast}&page_num=2&page_size=2`)).toEqual({ ids: [ids[0]], total: 3 });
    expect(await list(`filter.task_ids=${ids[0]}&filter.task_ids=${ids[2]}`)).toMatchObject({ total: 2 });
    expect(await list(`filter.model=${fast}&filter.status=succeeded`)).toEqual({ ids: [], total: 0 });
    expect((await list(`filter.model=${fast}&filter.service_tier=default`)).total).toBe(3);
    for (const query of ['page_num=0', 'page_num=501', 'page_size=101', 'page_size=x'])
      expect((await client.send('GET', `${path}?${query}`)).status).toBe(400);
  });
});

describe('a bad request', () => {
  const many = <Item>(count: number, item: Item) => Array.from({ length: count }, () => item);
  const reference = image(remote, 'reference_image');
  test.each<[string, object, string]>([
    ['no model', { model: undefined }, 'MissingParameter'],
    ['no content', { content: undefined }, 'MissingParameter'],
    ['empty content', { content: [] }, 'MissingParameter'],
    ['a model of another route', { model: 'gamma3.0-video' }, 'InvalidParameter'],
    ['an unknown item', { content: [{ type: 'file', file: remote }] }, 'InvalidParameter'],
    ['an empty text', { content: [text('')] }, 'InvalidParameter'],
    ['an image without a URL', { content: [{ type: 'image_url', image_url: {} }] }, 'InvalidParameter'],
    ['a role of another media type', { content: [image(remote, 'reference_video')] }, 'InvalidParameter'],
    ['a video as a data URL', { content: [clip('data:video/mp4;base64,AAAA')] }, 'InvalidParameter'],
    ['two first frames', { content: many(2, image(remote, 'first_frame')) }, 'InvalidParameter'],
    ['a last frame alone', { content: [image(remote, 'last_frame')] }, 'InvalidParameter'],
    ['frame and reference', { content: [image(remote, 'first_frame'), reference] }, 'InvalidParameter'],
    ['ten images', { content: many(10, reference) }, 'InvalidParameter'],
    ['31 images on 2.5', { model: modern, content: many(31, reference) }, 'InvalidParameter'],
    ['four videos', { content: many(4, clip(remote)) }, 'InvalidParameter'],
    ['eleven videos on 2.5', { model: modern, content: many(11, clip(remote)) }, 'InvalidParameter'],
    ['four audios', { content: [reference, ...many(4, audio(remote))] }, 'InvalidParameter'],
    ['audio alone', { content: [text(), audio(remote)] }, 'InvalidParameter'],
    ['an unknown asset', { content: [image('asset://asset-20260101000000-aaaaa')] }, 'InvalidParameter'],
    ['1080p on the fast model', { model: fast, resolution: '1080p' }, 'InvalidParameter'],
    ['1080p on the overseas model', { model: overseas, resolution: '1080p' }, 'InvalidParameter'],
    ['4k', { resolution: '4k' }, 'InvalidParameter'],
    ['an unknown ratio', { ratio: '2:1' }, 'InvalidParameter'],
    ['a duration of 3', { duration: 3 }, 'InvalidParameter'],
    ['16 seconds', { duration: 16 }, 'InvalidParameter'],
    ['31 seconds on 2.5', { model: modern, duration: 31 }, 'InvalidParameter'],
    ['frames and duration', { frames: 48, duration: 5 }, 'InvalidParameter'],
    ['a seed below -1', { seed: -2 }, 'InvalidParameter'],
    ['a seed of 33 bits', { seed: 2 ** 32 }, 'InvalidParameter'],
    ['a short expiry', { execution_expires_after: 3599 }, 'InvalidParameter'],
    ['a high priority', { priority: 10 }, 'InvalidParameter'],
    ['a long identifier', { safety_identifier: 'x'.repeat(65) }, 'InvalidParameter'],
    ['an unknown tool', { tools: [{ type: 'code' }] }, 'InvalidParameter'],
    ['the flexible tier on 2.0', { service_tier: 'flex' }, 'InvalidParameter'],
    ['QuickTime on 2.0', { output_format: 'mov' }, 'InvalidParameter'],
    ['a task type on 2.0', { omni_reference_task_type: 'edit' }, 'InvalidParameter'],
    ['watermark as string', { watermark: 'true' }, 'InvalidParameter'],
    [
      'an edit with a length',
      { model: modern, omni_reference_task_type: 'edit', duration: 5, content: [text(), clip(remote)] },
      'InvalidParameter.TaskTypeConstraint',
    ],
    [
      'an extension with a ratio',
      { model: modern, omni_reference_task_type: 'extend', ratio: '16:9', content: [text(), clip(remote)] },
      'InvalidParameter.TaskTypeConstraint',
    ],
    [
      'a reference task with a first frame and a ratio',
      {
        model: modern,
        omni_reference_task_type: 'reference',
        ratio: '1:1',
        content: [image(remote, 'first_frame')],
      },
      'InvalidParameter.TaskTypeConstraint',
    ],
  ])('%s is rejected', async (_case, change, code) => {
    expect(await refused(change)).toMatchObject({ status: 400, code, type: 'BadRequest' });
  });

  test('with an unknown model is rejected', async () => {
    expect(await refused({ model: 'no-such' })).toMatchObject({
      status: 404,
      code: 'InvalidEndpoint.NotFound',
    });
  });

  test('that only the media reveal fails the task', async () => {
    const ratio = {
      model: modern,
      ratio: '1:1',
      content: [image(dataUrl('image/png', png(400, 400)), 'first_frame')],
    };
    expect((await finish(await create(ratio))).error?.code).toBe('InvalidParameter.TaskTypeConstraint');
    const long = host.put('nine.wav', wav(9));
    const total = {
      content: [
        text(),
        image(dataUrl('image/png', png(400, 400)), 'reference_image'),
        audio(long),
        audio(long),
      ],
    };
    expect((await finish(await create(total))).error?.code).toBe('InvalidParameter.Duration');
    const small = { content: [text(), image(dataUrl('image/png', png(299, 400)))] };
    expect(await finish(await create(small))).toMatchObject({
      status: 'failed',
      error: { code: 'InvalidParameter.SideLength', message: expect.any(String) },
    });
  });
});
