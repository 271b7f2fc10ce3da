import { imageSize } from 'image-size';
import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { dataUrl, png } from '../sandbox-media/media-files.ts';
import { makeKey, post, remainingQuota } from '../server/ledger.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { expectSchema, officialPath } from './seedance-provider.ts';

const genericPath = '/v1/video/generations';
const videosPath = '/v1/videos';
const seedance20 = 'epsilon-delta-2-0-260128';
const seedance25 = 'epsilon-delta-2-5-260628';

interface TaskBody {
  status: string;
  seconds?: string;
  error?: { code: string } | null;
  content?: { video_url: string; last_frame_url?: string };
  metadata?: object;
  duration?: number;
  ratio?: string;
}

let target: TestGateway;
beforeAll(async () => {
  target = await startTestGateway({ sandboxDraft: false });
});
afterAll(() => target.close());

async function create(path: string, body: object, key = target.key): Promise<string> {
  const response = await post(target.url, key, path, body);
  const created = (await response.json()) as { id: string };
  expect(response.status, JSON.stringify(created)).toBe(200);
  return created.id;
}

async function getTask<Body>(path: string, id: string): Promise<Body> {
  const response = await fetch(`${target.url}${path}/${id}`, {
    headers: { authorization: `Bearer ${target.key}` },
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Body;
}

async function waitForFinal(path: string, id: string): Promise<TaskBody> {
  return await vi.waitFor(
    async () => {
      const task = await getTask<TaskBody>(path, id);
      if (['queued', 'running', 'in_progress'].includes(task.status))
        throw new Error('the task is not final');
      return task;
    },
    { timeout: 15_000, interval: 100 },
  );
}

/** Reads the properties of a video file. */
async function probe(url = '') {
  const response = await fetch(url);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'video/mp4']);
  using input = new Input({ formats: ALL_FORMATS, source: new BufferSource(await response.arrayBuffer()) });
  const video = await input.getPrimaryVideoTrack();
  if (video === null) throw new Error('There is no video track');
  const { packetCount, averagePacketRate } = await video.computePacketStats();
  return {
    size: [await video.getDisplayWidth(), await video.getDisplayHeight()],
    frames: packetCount,
    fps: Math.round(averagePacketRate),
    audio: (await input.getPrimaryAudioTrack()) !== null,
  };
}

describe.concurrent('a Seedance video of the sandbox', () => {
  test('has the duration, resolution and last frame of the official request', async () => {
    const { key, id: token } = await makeKey(target, { quota: 100 });
    const request = {
      model: seedance20,
      content: [{ type: 'text', text: 'A cat walks' }],
      resolution: '480p',
      ratio: '16:9',
      duration: 4,
      seed: 0,
      watermark: false,
      generate_audio: false,
      return_last_frame: true,
    };
    const id = await create(officialPath, request, key);
    const task = await waitForFinal(officialPath, id);
    expectSchema('OfficialTask', task);
    expect(task).toMatchObject({
      id,
      model: seedance20,
      status: 'succeeded',
      error: null,
      seed: 0,
      resolution: '480p',
      ratio: '16:9',
      duration: 4,
      framespersecond: 24,
      generate_audio: false,
      usage: { completion_tokens: 38_430, total_tokens: 38_430 },
    });
    const properties = { size: [854, 480], frames: 96, fps: 24, audio: false };
    expect(await probe(task.content?.video_url)).toEqual(properties);
    const lastFrame = await fetch(task.content?.last_frame_url ?? '');
    expect([lastFrame.status, lastFrame.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(imageSize(new Uint8Array(await lastFrame.arrayBuffer()))).toMatchObject({
      width: 854,
      height: 480,
    });
    expect(await remainingQuota(target, token)).toBe(96);
  });

  test('can be created by a generic request, and is returned in both generic formats', async () => {
    const request = {
      model: seedance25,
      prompt: 'A cat walks',
      image: dataUrl('image/png', png(600, 400)),
      size: '480P',
      seconds: '4',
      metadata: { ratio: '1:1', return_last_frame: true },
    };
    const [video, record] = await Promise.all([create(videosPath, request), create(genericPath, request)]);
    const task = await waitForFinal(videosPath, video);
    expectSchema('VideoTask', task);
    expect(task).toMatchObject({
      id: video,
      status: 'completed',
      progress: 100,
      seconds: '4',
      size: '480P',
      metadata: { duration: 4, resolution: '480p', ratio: '1:1', generate_audio: true, output_format: 'mp4' },
    });
    expect(await probe((task as { video_url?: string }).video_url)).toMatchObject({
      frames: 96,
      audio: true,
    });
    const completed = await vi.waitFor(async () => {
      const reply = await getTask<{ data: { status: string; result_url?: string } }>(genericPath, record);
      expect(reply.data.status).toBe('SUCCESS');
      return reply;
    }, 15_000);
    expectSchema('FamilyRecord', completed);
    expect(completed.data).toMatchObject({
      task_id: record,
      data: { id: record, duration: 4, ratio: '1:1' },
    });
    expect(await probe(completed.data.result_url)).toMatchObject({ size: [480, 480], fps: 24 });
  });

  test.each([
    ['[[sensitive]]', 'failed', { code: 'OutputVideoSensitiveContentDetected', message: expect.any(String) }],
    ['[[fail-late]]', 'failed', { code: 'InternalServiceError', message: expect.any(String) }],
    ['[[unknown]]', 'failed', { code: 'task_lost', message: expect.any(String) }],
    ['[[expire]]', 'expired', null],
    ['[[poll-error]] [[poll-malformed]]', 'succeeded', null],
  ])('with the trigger %s is %s', async (trigger, status, error) => {
    const { key, id: token } = await makeKey(target, { quota: 100 });
    const content = [{ type: 'text', text: `A cat ${trigger}` }];
    const request = { model: seedance20, content, resolution: '480p', duration: 4 };
    const id = await create(officialPath, request, key);
    const task = await waitForFinal(officialPath, id);
    expectSchema('OfficialTask', task);
    expect([task.status, task.error]).toEqual([status, error]);
    expect(await remainingQuota(target, token)).toBe(status === 'succeeded' ? 96 : 100);
  });

  test('with a first frame and a ratio fails later, because only the provider checks that', async () => {
    const first = {
      type: 'image_url',
      image_url: { url: dataUrl('image/png', png(400, 400)) },
      role: 'first_frame',
    };
    const id = await create(officialPath, {
      model: seedance25,
      content: [first],
      ratio: '16:9',
      duration: 4,
    });
    const { error } = await waitForFinal(officialPath, id);
    expect(error).toMatchObject({ code: 'InvalidParameter.TaskTypeConstraint' });
  });

  test('can be created from a completed draft', async () => {
    const draft = await create(officialPath, {
      model: seedance20,
      content: [{ type: 'text', text: 'A draft' }],
      draft: true,
      resolution: '480p',
      duration: 4,
    });
    const content = [{ type: 'draft_task', draft_task: { id: draft } }];
    const request = { model: seedance20, content, resolution: '480p', duration: 4 };
    expect((await post(target.url, target.key, officialPath, request)).status).toBe(400);
    await waitForFinal(officialPath, draft);
    const task = await waitForFinal(officialPath, await create(officialPath, request));
    expect(task).toMatchObject({ status: 'succeeded', draft_task_id: draft });
  });
});
