import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Failure } from '../../server/failure.ts';
import { etaDriver } from '../../server/providers/eta/tasks.ts';
import { etaFromGeneric } from '../../server/providers/eta/video-request.ts';
import type { GenericVideoRequest } from '../../server/providers/video.ts';
import { parseConfiguration } from '../../server/settings/configuration.ts';
import { findTaskById } from '../../server/store/queries/tasks.ts';
import { DriverError } from '../../server/tasks/driver.ts';
import type { TaskModel } from '../../server/tasks/task-model.ts';
import { ledgerRows, logRows } from '../server/books.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { GenericClient } from './generic-client.ts';

const older: TaskModel = { id: 'eta-imagine-video', unit: 'seconds', protocol: 'eta' };
const newer: TaskModel = { ...older, id: 'eta-imagine-video-1.5-preview' };
const prompt = 'A paper boat.';
const anna = 'https://files.example/anna.png';
const ben = 'https://files.example/ben.png';
const walk = 'https://files.example/walk.mp4';
const picture = 'data:image/png;base64,iVBORw0KGgo=';

type Wish = Omit<GenericVideoRequest, 'model'>;
const asked = (wish: Wish, { id }: TaskModel = older) => ({ ...wish, model: id }) as GenericVideoRequest;

describe('a generic request in the words of eta', () => {
  const rows: [string, Wish, object, TaskModel?][] = [
    ['a prompt alone', {}, {}],
    ['seconds as a text', { seconds: '6' }, { duration: 6 }],
    ['seconds as a number', { seconds: 6 }, { duration: 6 }],
    ['duration', { duration: 15 }, { duration: 15 }],
    ['seconds and duration that agree', { seconds: '3', duration: 3 }, { duration: 3 }],
    ['a resolution in upper case', { resolution: '720P' }, { resolution: '720p' }],
    ['an aspect ratio', { aspect_ratio: '2:3' }, { aspect_ratio: '2:3' }],
    ['a size that is a resolution', { size: '480P' }, { resolution: '480p' }],
    ['a wide size', { size: '1280x720' }, { resolution: '720p', aspect_ratio: '16:9' }],
    ['a tall size', { size: '480X854' }, { resolution: '480p', aspect_ratio: '9:16' }],
    ['a square size', { size: '720*720' }, { resolution: '720p', aspect_ratio: '1:1' }],
    ['a size of public clients', { size: '1024x1792' }, { resolution: '1080p', aspect_ratio: '9:16' }, newer],
    [
      'a size and the same in other words',
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
    ['a data URL', { image: picture }, { image: { url: picture } }],
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
      'a video and a length, which the edit has from its video',
      { video: { url: walk }, seconds: '5' },
      { video: { url: walk } },
    ],
    ['a domain, which is no matter of the provider', { custom_domain: 'media.files.example' }, {}],
  ];
  test.each(rows)('%s', (_, wish, body, model = older) => {
    expect(etaFromGeneric(model, asked({ prompt, ...wish }, model)).body).toEqual({ prompt, ...body });
  });

  test('the length that is reserved: what was asked, the usual one, or the longest edit', () => {
    const reserved = (wish: Wish) => etaFromGeneric(older, asked({ prompt, ...wish })).expectedUnits;
    expect([reserved({ seconds: '3' }), reserved({}), reserved({ video: { url: walk } })]).toEqual([3, 8, 9]);
  });

  test('what is remembered', () => {
    const facts = (wish: Wish) => etaFromGeneric(older, asked({ prompt, ...wish })).facts;
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
  const wrong = 'invalid_request';
  const refused: [string, Wish, string, string, TaskModel?][] = [
    ['no prompt', { prompt: undefined }, 'prompt', wrong],
    ['a prompt of blanks', { prompt: ' ' }, 'prompt', wrong],
    ['a prompt of 4097 characters', { prompt: 'é'.repeat(4097) }, 'prompt', wrong],
    ['no time', { seconds: 0 }, 'seconds', wrong],
    ['16 seconds', { duration: 16 }, 'duration', wrong],
    ['-1 seconds without a video', { seconds: '-1' }, 'seconds', wrong],
    ['lengths that disagree', { seconds: '4', duration: 5 }, 'duration', conflict],
    ['an unknown resolution', { resolution: '4k' }, 'resolution', wrong],
    ['an unknown ratio', { aspect_ratio: '21:9' }, 'aspect_ratio', wrong],
    ['an unknown size', { size: 'large' }, 'size', wrong],
    ['a size of other lines', { size: '640x360' }, 'size', wrong],
    ['a size of another shape', { size: '2160x720' }, 'size', wrong],
    ['a size of nothing', { size: '0x0' }, 'size', wrong],
    ['a size against the resolution', { size: '1280x720', resolution: '480p' }, 'resolution', wrong],
    ['a size against the ratio', { size: '1280x720', aspect_ratio: '1:1' }, 'aspect_ratio', wrong],
    ['1080p on the older model', { resolution: '1080p' }, 'resolution', wrong],
    ['1080 lines on the older model', { size: '1920x1080' }, 'size', wrong],
    [
      '1080p with reference images',
      { resolution: '1080p', reference_images: [{ url: anna }] },
      'resolution',
      wrong,
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
    ['8 reference images', { reference_images: Array(8).fill({ url: anna }) }, 'reference_images', wrong],
    ['an asset, which eta has not', { image: 'asset://asset-20260301120000-k3v9q' }, 'image', wrong],
    [
      'an asset as a reference',
      { reference_images: [{ url: anna }, { url: 'asset://x' }] },
      'reference_images.1.url',
      wrong,
    ],
    ['a file for a video', { video: { url: 'file:///etc/passwd' } }, 'video.url', wrong],
  ];
  test.each(refused)('400 for %s', (_, wish, field, code, model = older) => {
    let failure: unknown;
    try {
      etaFromGeneric(model, asked({ prompt, ...wish }, model));
    } catch (error) {
      failure = error;
    }
    expect(failure).toBeInstanceOf(Failure);
    expect(failure).toMatchObject({ status: 400, code, message: expect.stringContaining(`${field}: `) });
  });
});

describe('at an upstream', () => {
  const upstreamId = 'b1946ac9-2b37-4c54-a3f5-9d0d9d6d2f11';
  const file = 'https://origin.files.example:8443/boat.mp4?signature=9f2c';
  const done = { status: 'done', video: { url: file, duration: 6, respect_moderation: true }, progress: 100 };
  type Answer = [status: number, body: string] | 'hang up';
  let submitted: Answer;
  let polled: Answer;
  let upstream: RecordingUpstream;
  let target: TestGateway;
  let client: GenericClient;

  const say = (body: unknown, status = 200): Answer => [status, JSON.stringify(body)];
  beforeAll(async () => {
    upstream = await startUpstream(({ method }, response) => {
      const answer = method === 'POST' ? submitted : polled;
      if (answer === 'hang up') {
        response.destroy();
        return;
      }
      response.writeHead(answer[0], { 'content-type': 'application/json' }).end(answer[1]);
    });
    target = await startTestGateway({
      sandbox: false,
      channels: [
        channelTo(upstream.url, {
          protocol: 'eta',
          models: [
            { id: older.id, upstream: 'own-name' },
            { id: newer.id, upstream: undefined },
            { id: 'eta-next', upstream: undefined },
          ],
          customDomains: ['media.files.example'],
        }),
      ],
      prices: { '*': 10 },
      publicUrl: 'https://gateway.example/base',
    });
    client = new GenericClient(target);
  });
  beforeEach(() => {
    submitted = say({ request_id: upstreamId });
    polled = say({ status: 'pending', progress: 0 });
  });
  afterEach(() => {
    upstream.seen.length = 0;
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
  });

  test.each(['/v1/videos', '/v1/video/generations'])('a request at %s', async (path) => {
    const body = { model: older.id, prompt, seconds: '6', size: '1280x720', images: [anna] };
    const task = await client.create(body, path);
    expect(upstream.changes()[0]).toMatchObject({
      method: 'POST',
      path: '/v1/videos/generations',
      headers: { authorization: 'Bearer upstream-key' },
      body: {
        model: 'own-name',
        prompt,
        duration: 6,
        resolution: '720p',
        aspect_ratio: '16:9',
        image: { url: anna },
      },
    });
    expect(Object.keys(upstream.changes()[0]?.body ?? {})).toHaveLength(6);
    expect(task).toMatchObject({
      status: 'queued',
      model: older.id,
      seconds: '6',
      size: '1280x720',
      error: null,
    });
    expect(JSON.stringify(task)).not.toContain(upstreamId);
  });

  test('an edit has a path of its own', async () => {
    await client.create({ model: older.id, prompt, video: { url: walk } });
    expect(upstream.changes()[0]).toMatchObject({
      path: '/v1/videos/edits',
      body: { model: 'own-name', prompt, video: { url: walk } },
    });
  });

  test('a model beyond the catalogue that a channel lists', async () => {
    const task = await client.create({ model: 'eta-next', prompt, resolution: '720p' });
    expect(task.model).toBe('eta-next');
    expect(upstream.changes()[0]?.body).toEqual({ model: 'eta-next', prompt, resolution: '720p' });
  });

  /** The state that one poll leads to. */
  const snapshotOf = async (answer: Answer, wish: object = {}) => {
    const { id } = await client.create({ model: older.id, prompt, ...wish });
    const task = await findTaskById(target.gateway.store.read, id);
    const channel = target.gateway.channels.named('recording');
    if (task === undefined || channel === undefined) throw new Error('no task');
    polled = answer;
    const { signal } = new AbortController();
    return { id, snapshot: etaDriver.poll({ ...task, upstreamId }, { channel, signal }) };
  };
  const failed = { code: 'video_generation_failed', message: expect.any(String) };

  const states: [string, Answer, object][] = [
    ['an empty 202', [202, ''], { state: 'queued', progress: 0 }],
    ['pending', say({ status: 'pending', progress: 0 }), { state: 'queued', progress: 0 }],
    [
      'pending with progress',
      say({ status: 'pending', progress: 30 }, 202),
      { state: 'in_progress', progress: 30 },
    ],
    ['a status that nobody knows', say({ status: 'polishing' }), { state: 'queued' }],
    ['an answer that is no object', say(null), { state: 'queued' }],
    ['done', say(done), { state: 'completed', usage: { units: 6 } }],
    [
      'a video without a status',
      say({ video: { url: file } }),
      { state: 'completed', result: { video_url: file } },
    ],
    [
      'a length that is none',
      say({ video: { url: file, duration: -4 } }),
      { state: 'completed', result: { video_url: file } },
    ],
    [
      'moderated',
      say({ status: 'done', video: { respect_moderation: false } }),
      { state: 'failed', error: { code: 'content_moderated' } },
    ],
    [
      'moderated without a status',
      say({ video: { respect_moderation: false } }),
      { state: 'failed', error: { code: 'content_moderated' } },
    ],
    ['done without a video', say({ status: 'done' }), { state: 'failed', error: failed }],
    [
      'done with an address that is none',
      say({ status: 'done', video: { url: 'boat.mp4' } }),
      { state: 'failed', error: failed },
    ],
    ['expired', say({ status: 'expired' }), { state: 'failed', error: { code: 'task_expired' } }],
    [
      'failed with a code',
      say({ status: 'failed', error: { code: 'invalid_argument', message: 'Too long' } }),
      { state: 'failed', error: { code: 'invalid_argument', message: 'Too long' } },
    ],
    ['failed without a code', say({ status: 'failed' }), { state: 'failed', error: failed }],
    [
      'a task that the upstream has lost',
      say({ error: { code: 'not_found', message: `no ${upstreamId}` } }, 404),
      { state: 'failed', error: { code: 'task_lost' } },
    ],
  ];
  test.each(states)('%s', async (_, answer, expected) => {
    const { snapshot } = await snapshotOf(answer);
    const told = await snapshot;
    expect(told).toMatchObject(expected);
    expect(JSON.stringify(told)).not.toContain(upstreamId);
  });

  test('a failure that names the upstream task tells our id instead', async () => {
    const message = `Request ${upstreamId} failed`;
    const { id, snapshot } = await snapshotOf(
      say({ status: 'failed', error: { code: 'internal', message } }),
    );
    expect(await snapshot).toEqual({
      state: 'failed',
      error: { code: 'internal', message: `Request ${id} failed` },
    });
  });

  test.each<[string, Answer, string]>([
    ['garbage', [200, '{"status": '], 'unknown'],
    ['a server error', say({}, 500), 'unknown'],
    ['throttling', say({}, 429), 'retryable'],
    ['a refused key', say({}, 401), 'retryable'],
  ])('%s keeps the task going', async (_, answer, kind) => {
    const { snapshot } = await snapshotOf(answer);
    const error: unknown = await snapshot.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DriverError);
    expect(error).toMatchObject({ kind });
  });

  test.each([
    [
      'a domain that the operator allows',
      'Media.Files.Example',
      'https://media.files.example/boat.mp4?signature=9f2c',
    ],
    ['another domain', 'evil.example', file],
  ])('%s', async (_, custom_domain, shown) => {
    const { snapshot } = await snapshotOf(say(done), { custom_domain });
    const { result } = (await snapshot) as { result: Record<string, unknown> };
    expect(result.video_url).toBe(shown);
    // The gateway itself never goes where a client points.
    expect(result.source_url ?? result.video_url).toBe(file);
  });

  const lastBooks = async () => ({
    ledger: (await ledgerRows(target)).at(-1),
    log: (await logRows(target)).at(-1),
  });

  test('a video is paid by its length', async () => {
    polled = say(done);
    const { id } = await client.create({ model: older.id, prompt });
    expect((await lastBooks()).ledger).toMatchObject({ state: 'open', reserved: 80, unit: 'seconds' });
    const task = await client.until(id, 'completed');
    expect(task).toMatchObject({ progress: 100, seconds: '6', video_url: file, url: file, error: null });
    expect(task.metadata).toEqual({ duration: 6 });
    expect(task.content_url).toBe(`https://gateway.example/base/v1/videos/${id}/content`);
    const { ledger, log } = await lastBooks();
    expect(ledger).toMatchObject({ state: 'settled', reserved: 80, charged: 60 });
    expect(log).toMatchObject({
      status: 200,
      units: 6,
      quota: 60,
      operation: 'createVideo',
      error_code: null,
    });
  });

  test('a failed task costs nothing', async () => {
    polled = say({ status: 'failed', error: { code: 'internal', message: 'Broken' } });
    const { id } = await client.create({ model: older.id, prompt, seconds: '5' });
    const task = await client.until(id, 'failed');
    expect(task.error).toEqual({ code: 'internal', message: 'Broken' });
    expect(task).not.toHaveProperty('video_url');
    const { ledger, log } = await lastBooks();
    expect(ledger).toMatchObject({ state: 'refunded', reserved: 50, charged: null });
    expect(log).toMatchObject({ error_code: 'internal', quota: 0 });
  });

  test.each<[string, Answer, number, string]>([
    [
      'a refusal in its own words',
      say({ error: { code: 'invalid_argument', message: 'No' } }, 400),
      400,
      'invalid_argument',
    ],
    [
      'throttling',
      say({ error: { code: 'resource_exhausted', message: 'Slow down' } }, 429),
      429,
      'rate_limit_exceeded',
    ],
    ['a server error', say({}, 500), 502, 'bad_response_status_code'],
    [
      'a refused key',
      say({ error: { code: 'unauthenticated', message: 'upstream-key' } }, 401),
      502,
      'bad_response_status_code',
    ],
    ['garbage', [200, 'not json'], 502, 'bad_response'],
    ['an answer without a task', say({ ok: true }), 502, 'bad_response'],
    ['a connection that breaks', 'hang up', 502, 'do_request_failed'],
  ])('%s makes no task and costs nothing', async (_, answer, status, code) => {
    submitted = answer;
    const told = await client.call('POST', '/v1/videos', { model: newer.id, prompt });
    expect([told.status, told.body.error.code]).toEqual([status, code]);
    expect(told.body.error.message).not.toContain('upstream-key');
    const { ledger, log } = await lastBooks();
    expect(ledger?.state).toBe('refunded');
    expect(log).toMatchObject({ status, quota: 0, model_name: newer.id });
    // Three failures in a row would take the channel out.
    submitted = say({ request_id: upstreamId });
    await client.create({ model: newer.id, prompt });
  });
});

test('an operator can allow host names, and nothing else by that name', () => {
  const written = (domain: string) =>
    `channels:\n  - { name: eta, protocol: eta, base_url: "https://a.example", models: ["*"], custom_domains: ["${domain}"] }\n`;
  const read = (domain: string) => parseConfiguration('config.yaml', written(domain), {});
  expect(read('media.files.example').channels?.[0]?.custom_domains).toEqual(['media.files.example']);
  for (const wrong of ['https://files.example', 'files.example/a', 'a b', ''])
    expect(() => read(wrong)).toThrow('custom_domains');
});
