import { describe, expect, test } from 'vitest';
import { Failure } from '../../server/lib/failure.ts';
import { etaDriver } from '../../server/providers/eta/tasks.ts';
import { etaFromGeneric } from '../../server/providers/eta/video-request.ts';
import type { GenericVideoRequest } from '../../server/providers/video.ts';
import type { AcceptedTask } from '../../server/tasks/driver.ts';
import type { TaskModel } from '../../server/tasks/task-model.ts';
import { acceptedTask } from '../support/accepted-task.ts';
import { failureOf, useDriverRig } from '../support/driver-rig.ts';

const older: TaskModel = { id: 'eta-imagine-video', unit: 'seconds', protocol: 'eta' };
const newer: TaskModel = { ...older, id: 'eta-imagine-video-1.5-preview' };
const prompt = 'A paper boat.';
const anna = 'https://files.example/anna.png';
const ben = 'https://files.example/ben.png';
const walk = 'https://files.example/walk.mp4';
const imageUrl = 'data:image/png;base64,iVBORw0KGgo=';

type Fields = Omit<GenericVideoRequest, 'model'>;
const requestOf = (fields: Fields, { id }: TaskModel = older) =>
  ({ ...fields, model: id }) as GenericVideoRequest;

describe('a generic request translated to eta', () => {
  const translations: [string, Fields, object, TaskModel?][] = [
    ['a prompt alone', {}, {}],
    ['seconds as a text', { seconds: '6' }, { duration: 6 }],
    ['seconds as a number', { seconds: 6 }, { duration: 6 }],
    ['duration', { duration: 15 }, { duration: 15 }],
    ['seconds and duration that agree', { seconds: '3', duration: 3 }, { duration: 3 }],
    ['a resolution in upper case', { resolution: '720P' }, { resolution: '720p' }],
    ['an aspect ratio', { aspect_ratio: '2:3' }, { aspect_ratio: '2:3' }],
    ['a size that is a resolution', { size: '480P' }, { resolution: '480p' }],
    ['a wide size', { size: '1280x720' }, { resolution: '720p', aspect_ratio: '16:9' }],
    ['whitespace around a size', { size: ' 1280 x 720 ' }, { resolution: '720p', aspect_ratio: '16:9' }],
    ['whitespace around a resolution', { resolution: ' 720p ' }, { resolution: '720p' }],
    ['a tall size', { size: '480X854' }, { resolution: '480p', aspect_ratio: '9:16' }],
    ['a square size', { size: '720*720' }, { resolution: '720p', aspect_ratio: '1:1' }],
    ['a size of public SDKs', { size: '1024x1792' }, { resolution: '1080p', aspect_ratio: '9:16' }, newer],
    [
      'a size and an equal resolution',
      { size: '1280x720', resolution: '720p' },
      { resolution: '720p', aspect_ratio: '16:9' },
    ],
    [
      'a size and a ratio',
      { size: '720p', aspect_ratio: '1:1' },
      { resolution: '720p', aspect_ratio: '1:1' },
    ],
    ['1080p on the newer model', { resolution: '1080p' }, { resolution: '1080p' }, newer],
    ['image', { image: anna }, { image: { url: anna } }],
    ['a prompt of 4096 characters', { prompt: '😀'.repeat(4096) }, { prompt: '😀'.repeat(4096) }],
    [
      '1080p on a model whose name ends with its version',
      { resolution: '1080p' },
      { resolution: '1080p' },
      { ...older, id: 'eta-imagine-video-1.5' },
    ],
    [
      '7 reference images as data URLs',
      { reference_images: Array(7).fill({ url: imageUrl }) },
      { reference_images: Array(7).fill({ url: imageUrl }) },
    ],
    ['a data URL', { image: imageUrl }, { image: { url: imageUrl } }],
    ['images with one item', { images: [anna] }, { image: { url: anna } }],
    ['input_reference', { input_reference: { image_url: anna } }, { image: { url: anna } }],
    ['an image on the newer model', { image: anna }, { image: { url: anna } }, newer],
    [
      'reference images',
      { reference_images: [{ url: anna }, { url: ben }] },
      { reference_images: [{ url: anna }, { url: ben }] },
    ],
    ['empty lists', { images: [], reference_images: [] }, {}],
    ['a video to edit', { video: { url: walk } }, { video: { url: walk } }],
    ['a video and -1', { video: { url: walk }, duration: -1 }, { video: { url: walk } }],
    [
      'a video and a duration, which an edit ignores',
      { video: { url: walk }, seconds: '5' },
      { video: { url: walk } },
    ],
    ['a domain, which is not sent to the provider', { custom_domain: 'media.files.example' }, {}],
  ];
  test.each(translations)('%s', (_, fields, body, model = older) => {
    expect(etaFromGeneric(model, requestOf({ prompt, ...fields }, model)).body).toEqual({ prompt, ...body });
  });

  test('the reserved seconds are those of the request, the default, or the longest edit', () => {
    const reserved = (fields: Fields) =>
      etaFromGeneric(older, requestOf({ prompt, ...fields })).expectedUnits;
    expect([reserved({ seconds: '3' }), reserved({}), reserved({ video: { url: walk } })]).toEqual([3, 8, 9]);
  });

  test('the price depends on the resolution, which is 480p if the request names none', () => {
    const priced = (fields: Fields) => {
      const { priceFields, maxOutputTokens } = etaFromGeneric(older, requestOf({ prompt, ...fields }));
      return { resolution: priceFields.resolution, maxOutputTokens };
    };
    expect(priced({ resolution: '720P' }).resolution).toBe('720p');
    expect(priced({}).resolution).toBe('480p');
    expect(priced({})).toEqual(priced({ resolution: '480p' }));
  });

  test('the stored facts', () => {
    const facts = (fields: Fields) => etaFromGeneric(older, requestOf({ prompt, ...fields })).facts;
    expect(facts({ seconds: '3', size: '1280x720', custom_domain: 'media.files.example' })).toEqual({
      prompt,
      seconds: '3',
      size: '1280x720',
      custom_domain: 'media.files.example',
    });
    expect(facts({ duration: 3, resolution: '720P' })).toEqual({ prompt, seconds: '3', size: '720p' });
    expect(facts({ video: { url: walk }, seconds: '5' })).toEqual({ prompt });
  });

  const conflict = 'invalid_media_combination';
  const invalid = 'invalid_request';
  const invalidRequests: [string, Fields, string, string, TaskModel?][] = [
    ['no prompt', { prompt: undefined }, 'prompt', invalid],
    ['a prompt of whitespace', { prompt: ' ' }, 'prompt', invalid],
    ['a prompt of 4097 characters', { prompt: 'é'.repeat(4097) }, 'prompt', invalid],
    ['a prompt of 4097 characters outside the BMP', { prompt: '😀'.repeat(4097) }, 'prompt', invalid],
    ['a prompt of 9000 characters', { prompt: 'é'.repeat(9000) }, 'prompt', invalid],
    [
      '1080p on a model of another version',
      { resolution: '1080p' },
      'resolution',
      invalid,
      { ...older, id: 'eta-imagine-video-1.50' },
    ],
    [
      '1080p on a model without one',
      { resolution: '1080p' },
      'resolution',
      invalid,
      { ...older, id: 'eta-1x5' },
    ],
    ['0 seconds', { seconds: 0 }, 'seconds', invalid],
    ['16 seconds', { duration: 16 }, 'duration', invalid],
    ['-1 seconds without a video', { seconds: '-1' }, 'seconds', invalid],
    ['seconds and duration that differ', { seconds: '4', duration: 5 }, 'duration', conflict],
    ['an unknown resolution', { resolution: '4k' }, 'resolution', invalid],
    ['an unknown ratio', { aspect_ratio: '21:9' }, 'aspect_ratio', invalid],
    ['an unknown size', { size: 'large' }, 'size', invalid],
    ['a size with a prefix', { size: 'a1280x720' }, 'size', invalid],
    ['a size with a suffix', { size: '1280x720p' }, 'size', invalid],
    ['a size with a letter inside', { size: '1280ax720' }, 'size', invalid],
    ['a size with another height', { size: '640x360' }, 'size', invalid],
    ['a size with another ratio', { size: '2160x720' }, 'size', invalid],
    ['a size of zero', { size: '0x0' }, 'size', invalid],
    [
      'a size that contradicts the resolution',
      { size: '1280x720', resolution: '480p' },
      'resolution',
      invalid,
    ],
    ['a size that contradicts the ratio', { size: '1280x720', aspect_ratio: '1:1' }, 'aspect_ratio', invalid],
    ['1080p on the older model', { resolution: '1080p' }, 'resolution', invalid],
    ['1080 lines on the older model', { size: '1920x1080' }, 'size', invalid],
    [
      '1080p with reference images',
      { resolution: '1080p', reference_images: [{ url: anna }] },
      'resolution',
      invalid,
      newer,
    ],
    ['two images', { images: [anna, ben] }, 'images', conflict],
    ['an image and images', { image: anna, images: [ben] }, 'images', conflict],
    [
      'an image and input_reference',
      { image: anna, input_reference: { image_url: ben } },
      'images',
      conflict,
    ],
    ['an image and reference images', { image: anna, reference_images: [{ url: ben }] }, 'image', conflict],
    ['a video and an image', { video: { url: walk }, image: anna }, 'video', conflict],
    [
      'a video and reference images',
      { video: { url: walk }, reference_images: [{ url: anna }] },
      'video',
      conflict,
    ],
    ['a video on the newer model', { video: { url: walk } }, 'video', conflict, newer],
    ['8 reference images', { reference_images: Array(8).fill({ url: anna }) }, 'reference_images', invalid],
    [
      'an asset, which eta does not support',
      { image: 'asset://asset-20260301120000-k3v9q' },
      'image',
      invalid,
    ],
    [
      'an asset as a reference',
      { reference_images: [{ url: anna }, { url: 'asset://x' }] },
      'reference_images.1.url',
      invalid,
    ],
    ['a file URL for a video', { video: { url: 'file:///etc/passwd' } }, 'video.url', invalid],
  ];
  test.each(invalidRequests)('400 for %s', (_, fields, field, code, model = older) => {
    let failure: unknown;
    try {
      etaFromGeneric(model, requestOf({ prompt, ...fields }, model));
    } catch (error) {
      failure = error;
    }
    expect(failure).toBeInstanceOf(Failure);
    expect(failure).toMatchObject({
      status: 400,
      code,
      message: expect.stringMatching(new RegExp(`^${field}: .{12}`)),
    });
  });
});

test('an error lists the allowed values', () => {
  const refusal = (fields: Fields) => () => etaFromGeneric(older, requestOf({ prompt, ...fields }));
  expect(refusal({ resolution: '4k' })).toThrow('resolution: must be one of 480p, 720p, 1080p.');
  expect(refusal({ aspect_ratio: '21:9' })).toThrow(/^aspect_ratio: must be one of 1:1, /);
  expect(refusal({ size: '640x360' })).toThrow(/lines and a ratio of 1:1, /);
});

describe('the driver', () => {
  const rig = useDriverRig({
    protocol: 'eta',
    models: [{ id: older.id, upstream: 'own-name' }],
    customDomains: ['Media.files.example'],
  });
  const upstreamId = 'b1946ac9-2b37-4c54-a3f5-9d0d9d6d2f11';
  const file = 'https://origin.files.example:8443/boat.mp4?signature=9f2c';
  const task = (change: Partial<AcceptedTask> = {}) =>
    acceptedTask({ driver: 'eta', model: older.id, upstreamId, ...change });
  const poll = (body: unknown, change: Partial<AcceptedTask> = {}, status = 200) => {
    rig.answer = { status, body };
    return etaDriver.poll(task(change), rig.to());
  };
  const submit = (body: unknown, request: object = { prompt }) => {
    rig.answer = { body };
    return etaDriver.submit(task(), request, rig.to());
  };

  test('requests a video, or an edit, with the provider’s model name', async () => {
    expect(await submit({ request_id: upstreamId })).toEqual({ upstreamId });
    await submit({ request_id: upstreamId }, { prompt, video: { url: walk } });
    expect(rig.seen.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/v1/videos/generations', { prompt, model: 'own-name' }],
      ['POST', '/v1/videos/edits', { prompt, video: { url: walk }, model: 'own-name' }],
    ]);
  });

  test.each([
    [{}],
    [''],
    [{ request_id: '' }],
    [{ request_id: upstreamId, error: 'no' }],
    [{ request_id: upstreamId, code: 'no' }],
  ])('reports an unknown outcome for the response %j', async (body) => {
    expect(await failureOf(submit(body))).toMatchObject({ kind: 'unknown', fault: 'invalid_response' });
  });

  const failed = { code: 'video_generation_failed', message: 'The provider made no video.' };
  const moderated = { code: 'content_moderated', message: 'The video was held back by moderation.' };
  const completed = (seconds: number) => ({
    state: 'completed',
    result: { video_url: file, metadata: { duration: seconds } },
    usage: { units: seconds },
  });
  test.each<[string, unknown, object]>([
    ['an empty response', '', { state: 'queued', progress: 0 }],
    ['pending', { status: 'pending', progress: 0 }, { state: 'queued', progress: 0 }],
    ['pending with progress', { status: 'pending', progress: 30 }, { state: 'in_progress', progress: 30 }],
    ['an unknown status', { status: 'polishing' }, { state: 'queued', progress: 0 }],
    ['a response that is not an object', null, { state: 'queued', progress: 0 }],
    ['done', { status: 'done', video: { url: file, duration: 6, respect_moderation: true } }, completed(6)],
    ['a duration below one second', { video: { url: file, duration: 0.5 } }, completed(0.5)],
    [
      'a video without a status or a duration',
      { video: { url: file } },
      { state: 'completed', result: { video_url: file } },
    ],
    [
      'a negative duration',
      { video: { url: file, duration: -4 } },
      { state: 'completed', result: { video_url: file }, report: { fields: {}, ignored: { duration: -4 } } },
    ],
    [
      'no duration',
      { video: { url: file, duration: 0 } },
      { state: 'completed', result: { video_url: file } },
    ],
    [
      'a size in pixels',
      { video: { url: file, duration: 6, size: '1280x720' } },
      { ...completed(6), report: { fields: { resolution: '720p', ratio: '16:9' }, ignored: {} } },
    ],
    [
      'a resolution beside the video',
      { video: { url: file, duration: 6 }, resolution: 'huge', aspect_ratio: '1:1' },
      { ...completed(6), report: { fields: { ratio: '1:1' }, ignored: { resolution: 'huge' } } },
    ],
    [
      'a URL in upper case',
      { video: { url: 'HTTP://files.example/a.mp4' } },
      { state: 'completed', result: { video_url: 'HTTP://files.example/a.mp4' } },
    ],
    [
      'moderated',
      { status: 'done', video: { respect_moderation: false } },
      { state: 'failed', error: moderated },
    ],
    [
      'moderated without a status',
      { video: { respect_moderation: false } },
      { state: 'failed', error: moderated },
    ],
    ['done without a video', { status: 'done' }, { state: 'failed', error: failed }],
    [
      'done with an invalid URL',
      { status: 'done', video: { url: 'boat.mp4' } },
      { state: 'failed', error: failed },
    ],
    [
      'done with a data URL',
      { status: 'done', video: { url: 'data:,https://files.example/a.mp4' } },
      { state: 'failed', error: failed },
    ],
    [
      'done with a URL without a host',
      { status: 'done', video: { url: 'https://' } },
      { state: 'failed', error: failed },
    ],
    [
      'expired',
      { status: 'expired', video: { url: file } },
      { state: 'failed', error: { code: 'task_expired', message: 'The task was not finished in time.' } },
    ],
    [
      'failed with a code and a message that contains the id',
      { status: 'failed', error: { code: 'internal', message: `Request ${upstreamId} failed` } },
      { state: 'failed', error: { code: 'internal', message: 'Request task_public failed' } },
    ],
    ['failed without a code', { status: 'failed' }, { state: 'failed', error: failed }],
  ])('returns the state for %s', async (_, body, snapshot) => {
    expect(await poll(body)).toEqual(snapshot);
    expect(rig.seen).toMatchObject([{ method: 'GET', path: `/v1/videos/${upstreamId}` }]);
  });

  test('encodes the id in the path, and keeps the state for an unknown status', async () => {
    expect(await poll({ status: 'polishing' }, { upstreamId: 'a/b', state: 'in_progress' })).toEqual({
      state: 'in_progress',
      progress: 0,
    });
    expect(rig.seen[0]?.path).toBe('/v1/videos/a%2Fb');
    expect(await poll({ error: { code: 'not_found' } }, {}, 404)).toMatchObject({
      state: 'failed',
      error: { code: 'task_lost' },
    });
  });

  test.each([
    ['invalid JSON', 200, '{"status": ', 'unknown'],
    ['a server error', 500, {}, 'unknown'],
    ['throttling', 429, {}, 'retryable'],
    ['a rejected key', 401, {}, 'retryable'],
  ])('keeps a task open after %s', async (_, status, body, kind) => {
    expect(await failureOf(poll(body, {}, status))).toMatchObject({ kind });
  });

  test('returns the requested host if the operator allows it', async () => {
    const video = { url: file, duration: 6 };
    const resultFor = async (custom_domain: string) => {
      const snapshot = await poll({ video }, { facts: { custom_domain } });
      return 'result' in snapshot ? snapshot.result : undefined;
    };
    // `source_url` is what the gateway fetches. It never fetches from a host that the client chose.
    expect(await resultFor('media.Files.example')).toEqual({
      video_url: 'https://media.files.example/boat.mp4?signature=9f2c',
      source_url: file,
      metadata: { duration: 6 },
    });
    expect(await resultFor('evil.example')).toEqual({ video_url: file, metadata: { duration: 6 } });
  });
});
