import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { dataUrl, png, video, wav } from '../sandbox-media/media-files.ts';
import { useFileHost } from '../sandbox-media/task-client.ts';
import { ledgerRows, post } from '../server/ledger.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { submit, videoPath, waitForFinal } from './native-client.ts';

const host = useFileHost();
let target: TestGateway;
beforeAll(async () => {
  // The media host of this file is at a private address.
  target = await startTestGateway({
    callbacks: { allowPrivate: true, secret: undefined },
    sandboxDraft: false,
  });
});
afterAll(() => target.close());

/** Reads properties and frames of a video file. */
async function probe(url: string | undefined) {
  const response = await fetch(url ?? '');
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'video/mp4']);
  using input = new Input({ formats: ALL_FORMATS, source: new BufferSource(await response.arrayBuffer()) });
  const track = await input.getPrimaryVideoTrack();
  if (track === null) throw new Error('There is no video track');
  let frames = '';
  for await (const { data } of new EncodedPacketSink(track).packets())
    frames += Buffer.from(data).toString('base64');
  const properties = {
    size: [track.displayWidth, track.displayHeight],
    seconds: await track.computeDuration(),
    fps: Math.round((await track.computePacketStats()).averagePacketRate),
    audio: (await input.getPrimaryAudioTrack()) !== null,
  };
  return { properties, frames };
}

describe('a gamma video of the sandbox', () => {
  test.each([false, true])('has the requested properties, audio %s', async (audio) => {
    const id = await submit(target, videoPath, {
      model: 'gamma3.0-video-prime',
      input: { prompt: 'A paper boat sails.' },
      parameters: { resolution: '720P', ratio: '16:9', duration: 2, audio, seed: 0, watermark: audio },
    });
    const { output, usage } = await waitForFinal(target, id);
    expect(output).toMatchObject({
      task_id: id,
      task_status: 'SUCCEEDED',
      orig_prompt: 'A paper boat sails.',
    });
    expect(usage).toEqual({
      video_count: 1,
      duration: 2,
      input_video_duration: 0,
      output_video_duration: 2,
      fps: 30,
      SR: 720,
      ratio: '16:9',
      cost: 2,
    });
    expect((await probe(output.video_url)).properties).toEqual({
      size: [1280, 720],
      seconds: 2,
      fps: 30,
      audio,
    });
  });

  test('is identical for the same seed, and differs for another one', async () => {
    const createVideo = async (seed: number) => {
      const parameters = { resolution: '480P', duration: 2, seed, audio: false };
      const body = { model: 'gamma3.0-video', input: { prompt: 'A kite.' }, parameters };
      const { output } = await waitForFinal(target, await submit(target, videoPath, body));
      return (await probe(output.video_url)).frames;
    };
    const [original, repeated, other] = await Promise.all([createVideo(0), createVideo(0), createVideo(1)]);
    expect(original === repeated).toBe(true);
    expect(original === other).toBe(false);
  });

  test.each(['/v1/video/generations', '/v1/videos'])('can be created at %s', async (path) => {
    const request = {
      model: 'gamma3.0-video',
      prompt: 'The flower opens.',
      images: [dataUrl('image/png', png(320, 240)), dataUrl('image/png', png(320, 240, [200, 40, 40]))],
      size: '480p',
      seconds: '2',
      metadata: { parameters: { audio: false, ratio: '1:1' } },
    };
    const created = (await (await post(target.url, target.key, path, request)).json()) as { id: string };
    const completed = await vi.waitFor(
      async () => {
        const headers = { authorization: `Bearer ${target.key}` };
        const response = await fetch(`${target.url}${path}/${created.id}`, { headers });
        const task = (await response.json()) as { status: string; video_url: string; metadata: object };
        expect(task.status).toBe('completed');
        return task;
      },
      { timeout: 15_000, interval: 100 },
    );
    expect(completed).toMatchObject({
      size: '480p',
      seconds: '2',
      metadata: {
        url: completed.video_url,
        orig_prompt: 'The flower opens.',
        usage: { fps: 30, SR: 480, ratio: '1:1', output_video_duration: 2 },
      },
    });
    expect((await probe(completed.video_url)).properties).toEqual({
      size: [480, 480],
      seconds: 2,
      fps: 30,
      audio: false,
    });
  });

  test('refers to images, videos and audio, and is charged for its own seconds only', async () => {
    const media = [
      { type: 'reference_image', url: host.put('anna.png', png(300, 300)) },
      { type: 'reference_video', url: host.put('walk.mp4', await video()) },
      { type: 'reference_audio', url: host.put('anna.wav', wav(2)) },
    ];
    const body = {
      model: 'gamma3.0-video',
      input: { prompt: 'She walks.', media },
      parameters: { resolution: '480P', duration: 3 },
    };
    const { output, usage } = await waitForFinal(target, await submit(target, videoPath, body));
    expect(output.task_status).toBe('SUCCEEDED');
    expect(usage).toMatchObject({ duration: 5, input_video_duration: 2, output_video_duration: 3 });
    expect((await ledgerRows(target)).at(-1)).toMatchObject({ state: 'settled', charged: 3 });
  });

  test('fails with the provider’s error if an image is too small, and costs nothing', async () => {
    const url = dataUrl('image/png', png(100, 100));
    const body = { model: 'gamma3.0-video', input: { media: [{ type: 'first_frame', url }] } };
    const { output } = await waitForFinal(target, await submit(target, videoPath, body));
    expect(output).toMatchObject({ task_status: 'FAILED', code: 'InvalidParameter.SideLength' });
    expect((await ledgerRows(target)).at(-1)).toMatchObject({ state: 'refunded', charged: null });
  });
});
