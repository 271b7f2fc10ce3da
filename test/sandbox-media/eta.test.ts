import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import { describe, expect, test } from 'vitest';
import { dataUrl, png, video } from './media-files.ts';
import { taskDurationMs, useFileHost, useTaskUpstream } from './task-client.ts';

const client = useTaskUpstream();
const host = useFileHost();
const older = 'eta-imagine-video';
const newer = 'eta-imagine-video-1.5-preview';

interface Task {
  status?: string;
  model?: string;
  progress?: number;
  video?: { url?: string; duration?: number; respect_moderation: boolean };
  error?: { code: string; message: string };
}

async function create(change: object = {}, action = 'generations'): Promise<string> {
  const request = { model: older, prompt: 'A kite', ...change };
  const { status, body } = await client.send<{ request_id: string }>('POST', `/v1/videos/${action}`, request);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toEqual({ request_id: expect.any(String) });
  return body.request_id;
}

const poll = (id: string) => client.send<Task | undefined>('GET', `/v1/videos/${id}`);

async function finish(id: string): Promise<Task> {
  client.advance(taskDurationMs);
  const ended = (task: Task | undefined) => task !== undefined && task.status !== 'pending';
  return (await client.until<Task | undefined>(`/v1/videos/${id}`, ended)) ?? {};
}

async function factsOf(task: Task) {
  const { bytes } = await client.download(task.video?.url ?? '');
  using input = new Input({ formats: ALL_FORMATS, source: new BufferSource(bytes) });
  const track = await input.getPrimaryVideoTrack();
  if (!track) throw new Error('There is no video track');
  return {
    size: [await track.getDisplayWidth(), await track.getDisplayHeight()],
    seconds: Math.round((await track.computeDuration()) * 100) / 100,
    frameRate: Math.round((await track.computePacketStats()).averagePacketRate),
    audio: (await input.getPrimaryAudioTrack()) !== null,
  };
}

describe('task', () => {
  test('is pending with increasing progress and some empty 202 responses, and then done', async () => {
    const id = await create({ duration: 1 });
    expect((await poll(id)).body).toEqual({ status: 'pending', model: older, progress: 0 });
    const progressValues: number[] = [];
    let empty = 0;
    for (let step = 0; step < 9; step++) {
      client.advance(taskDurationMs / 10);
      const { status, body } = await poll(id);
      if (status === 202) {
        expect(body).toBeUndefined();
        empty++;
      } else {
        expect(body).toMatchObject({ status: 'pending', model: older });
        progressValues.push(body?.progress ?? -1);
      }
    }
    expect(empty).toBe(3);
    expect(progressValues).toEqual(progressValues.toSorted((first, second) => first - second));
    expect(progressValues.at(-1)).toBeGreaterThan(80);
    expect(await finish(id)).toEqual({
      status: 'done',
      model: older,
      progress: 100,
      usage: { duration: 1 },
      video: { url: expect.stringMatching(/\.mp4\?/), duration: 1, respect_moderation: true },
    });
  });

  test('returns a video with the requested properties', async () => {
    const done = await finish(await create({ duration: 2, resolution: '720p', aspect_ratio: '2:3' }));
    expect(await factsOf(done)).toEqual({ size: [720, 1080], seconds: 2, frameRate: 30, audio: false });
  });

  test('uses the aspect ratio of the image', async () => {
    const image = { url: dataUrl('image/png', png(300, 400)) };
    const done = await finish(await create({ model: newer, duration: 1, resolution: '1080p', image }));
    expect((await factsOf(done)).size).toEqual([1080, 1440]);
  });

  test('accepts reference images', async () => {
    const reference_images = [1, 2, 3].map((index) => ({ url: host.put(`${index}.png`, png(100, 100)) }));
    expect((await finish(await create({ model: newer, reference_images }))).status).toBe('done');
  });

  test('edits and extends a video', async () => {
    const source = { url: host.put('source.mp4', await video({ seconds: 2.5, width: 480, height: 480 })) };
    for (const action of ['edits', 'generations']) {
      const done = await finish(await create({ video: source }, action));
      expect(await factsOf(done)).toMatchObject({ size: [480, 480], seconds: 2.5 });
    }
    expect((await finish(await create({ video: source, duration: 2 }, 'extensions'))).video?.duration).toBe(
      4.5,
    );
  });

  test.each<[string, () => object | Promise<object>]>([
    ['a missing image', () => ({ image: { url: host.address('none.png') } })],
    [
      'an image that is none',
      () => ({ image: { url: host.put('t.png', Buffer.from('This is text, no image.')) } }),
    ],
    ['a long video', async () => ({ video: { url: host.put('l.mp4', await video({ seconds: 9 })) } })],
  ])('%s fails it', async (_case, change) => {
    expect(await finish(await create(await change()))).toEqual({
      status: 'failed',
      model: older,
      error: { code: 'invalid_argument', message: expect.any(String) },
    });
  });

  test('is unknown if it never existed, and after 24 hours', async () => {
    const id = await create();
    client.advance(24 * 60 * 60 * 1000);
    for (const lost of [id, 'no-such']) {
      const { status, body } = await poll(lost);
      expect([status, body?.error?.code]).toEqual([404, 'not_found']);
    }
  });
});

describe('a bad request', () => {
  const url = 'https://files.example/a.png';
  test.each<[string, object]>([
    ['no prompt', { prompt: undefined }],
    ['a long prompt', { prompt: 'x'.repeat(4097) }],
    ['no model', { model: undefined }],
    ['16 seconds', { duration: 16 }],
    ['a duration of 0', { duration: 0 }],
    ['a duration as string', { duration: '8' }],
    ['4k', { resolution: '4k' }],
    ['1080p on the older model', { resolution: '1080p' }],
    ['1080p with references', { model: newer, resolution: '1080p', reference_images: [{ url }] }],
    ['an unknown ratio', { aspect_ratio: '21:9' }],
    ['eight references', { reference_images: Array.from({ length: 8 }, () => ({ url })) }],
    ['image and references', { image: { url }, reference_images: [{ url }] }],
    ['image and video', { image: { url }, video: { url } }],
    ['an edit on the newer model', { model: newer, video: { url } }],
    ['a video as a data URL', { video: { url: 'data:video/mp4;base64,AAAA' } }],
    ['an image without a URL', { image: {} }],
  ])('%s is rejected', async (_case, change) => {
    const request = { model: older, prompt: 'A kite', ...change };
    const { status, body } = await client.send<Task>('POST', '/v1/videos/generations', request);
    expect([status, body.error?.code]).toEqual([400, 'invalid_argument']);
  });

  test('to edit without a video is rejected', async () => {
    const { status } = await client.send('POST', '/v1/videos/edits', { model: older, prompt: 'A kite' });
    expect(status).toBe(400);
  });
});
