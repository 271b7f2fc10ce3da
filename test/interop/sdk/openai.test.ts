import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI, { APIError, AuthenticationError, NotFoundError, RateLimitError, toFile } from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readSettings } from '../../../server/settings/settings.ts';
import { imageFiles } from '../../sandbox-media/media-files.ts';
import { logRows, makeKey, remainingQuota } from '../../server/ledger.ts';
import { type FaultInjectingProxy, startFaultInjectingProxy } from '../../support/fault-injecting-proxy.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';

let target: TestGateway;
let sdk: OpenAI;
beforeAll(async () => {
  target = await startTestGateway();
  sdk = new OpenAI({ baseURL: `${target.url}/v1`, apiKey: target.key, maxRetries: 0 });
});
afterAll(() => target.close());

const prompt = 'A paper boat.';

const caught = async (call: Promise<unknown>): Promise<APIError> => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof APIError) return error;
  throw new Error(`no API error but ${String(error)}`);
};

test('an unmodified public SDK creates speech', async () => {
  const reply = await sdk.audio.speech.create({ model: 'alpha3-tts-flash', voice: 'Aria', input: 'Hello.' });
  const bytes = Buffer.from(await reply.arrayBuffer());
  expect(bytes.subarray(0, 4).toString('latin1')).toBe('RIFF');
  expect(bytes.readUInt32LE(24)).toBe(24000);
});

test('it lists models', async () => {
  const ids: string[] = [];
  for await (const model of sdk.models.list()) ids.push(model.id);
  expect(ids).toContain('voxa-v3-flash');
  expect(await sdk.models.retrieve('beta/speech-02-hd')).toMatchObject({
    id: 'beta/speech-02-hd',
    object: 'model',
    owned_by: 'beta',
  });
  expect(await caught(sdk.models.retrieve('nobody/knows'))).toBeInstanceOf(NotFoundError);
});

test('it creates embeddings in Base64, its default encoding', async () => {
  const input = ['A paper boat.', 'A paper boat.', 'Tax returns.'];
  const { data, usage } = await sdk.embeddings.create({ model: 'theta-embedding-1', input, dimensions: 64 });
  expect(data.map(({ embedding }) => embedding.length)).toEqual([64, 64, 64]);
  expect(data[1]?.embedding).toEqual(data[0]?.embedding);
  expect(data[2]?.embedding).not.toEqual(data[0]?.embedding);
  expect(usage).toMatchObject({ prompt_tokens: 11, total_tokens: 11 });
  const plain = await sdk.embeddings.create({
    model: 'theta-embedding-1',
    input: 'A paper boat.',
    dimensions: 64,
    encoding_format: 'float',
  });
  expect(plain.data[0]?.embedding).toEqual(data[0]?.embedding);
  // Other clients of the API send null for options that are not set.
  const unset = await sdk.embeddings.create({
    model: 'theta-embedding-1',
    input: 'A paper boat.',
    dimensions: null as never,
  });
  expect(unset.data[0]?.embedding).toHaveLength(512);
});

test('it streams speech', async () => {
  const input = 'One. Two.';
  const reply = await sdk.audio.speech.create({
    model: 'voxa-v3-flash',
    voice: 'voxanna',
    input,
    stream_format: 'audio',
  });
  expect(reply.headers.get('content-type')).toBe('audio/mpeg');
  expect((await reply.arrayBuffer()).byteLength).toBeGreaterThan(1000);
});

test('it creates, polls, downloads, lists and deletes a video', async () => {
  // The types of the SDK accept any model and size.
  const made = await sdk.videos.create({
    model: 'eta-imagine-video',
    prompt: 'A paper boat.',
    seconds: '4',
    size: '1280x720',
  });
  expect(made).toMatchObject({
    object: 'video',
    status: 'queued',
    seconds: '4',
    size: '1280x720',
    error: null,
  });
  const ended = await vi.waitFor(
    async () => {
      const video = await sdk.videos.retrieve(made.id);
      if (video.status !== 'completed') throw new Error(`the video is ${video.status}`);
      return video;
    },
    { timeout: 50_000, interval: 100 },
  );
  expect(ended).toMatchObject({ id: made.id, progress: 100 });
  const content = await sdk.videos.downloadContent(made.id, { variant: 'video' });
  const bytes = Buffer.from(await content.arrayBuffer());
  expect([content.headers.get('content-type'), bytes.toString('latin1', 4, 8)]).toEqual([
    'video/mp4',
    'ftyp',
  ]);
  const listed: string[] = [];
  for await (const { id } of sdk.videos.list({ limit: 1 })) listed.push(id);
  expect(listed).toContain(made.id);
  expect(await sdk.videos.delete(made.id)).toMatchObject({ id: made.id, deleted: true });
  expect(await caught(sdk.videos.retrieve(made.id))).toBeInstanceOf(NotFoundError);
});

test('every size and length of its types suits the video models', async () => {
  const sizes: OpenAI.VideoSize[] = ['720x1280', '1280x720', '1024x1792', '1792x1024'];
  const lengths: OpenAI.VideoSeconds[] = ['4', '8', '12'];
  const models = ['gamma3.0-video', 'epsilon-delta-2-5-260628', 'eta-imagine-video-1.5-preview'];
  for (const model of models)
    for (const [index, size] of sizes.entries()) {
      const seconds = lengths[index % lengths.length] ?? '4';
      const { size: shown, seconds: length } = await sdk.videos.create({ model, prompt, size, seconds });
      expect([shown, length], `${model} ${size}`).toEqual([size, seconds]);
    }
});

test('it uploads the first frame of a video', async () => {
  const picture = await toFile(Buffer.from(imageFiles.png(300, 300)), 'start.png', { type: 'image/png' });
  const model = 'eta-imagine-video';
  const made = await sdk.videos.create({ model, prompt: 'It moves.', input_reference: picture });
  expect(made.status).toBe('queued');
  const image_url = 'https://files.example/start.png';
  const other = await sdk.videos.create({ model, prompt: 'It moves.', input_reference: { image_url } });
  expect(other.status).toBe('queued');
  const text = await toFile(Buffer.from('not an image'), 'start.png', { type: 'image/png' });
  const rejected = await caught(sdk.videos.create({ model, prompt: 'It moves.', input_reference: text }));
  expect([rejected.status, rejected.message]).toEqual([400, expect.stringContaining('input_reference: ')]);
});

test('it reads why an operation on videos is not supported', async () => {
  const video = { id: 'video_123' };
  const calls = {
    edit: () => sdk.videos.edit({ prompt: 'Bluer.', video }),
    extend: () => sdk.videos.extend({ prompt: 'Longer.', seconds: '4', video }),
    remix: () => sdk.videos.remix(video.id, { prompt: 'Bluer.' }),
    createCharacter: async () =>
      sdk.videos.createCharacter({ name: 'Ann', video: await toFile(Buffer.from(' '), 'ann.mp4') }),
  };
  for (const [name, call] of Object.entries(calls)) {
    const error = await caught(call());
    expect(error, name).toBeInstanceOf(NotFoundError);
    expect([error.code, error.message], name).toEqual([
      'path_not_found',
      expect.stringContaining('not supported'),
    ]);
  }
});

describe('its own retry, after the response of the first attempt was lost', () => {
  let proxy: FaultInjectingProxy;
  beforeAll(async () => {
    proxy = await startFaultInjectingProxy(target.url);
  });
  afterAll(() => proxy.close());

  /** Loses the first response of each test, and records the retry counts. */
  const loseFirst = () => {
    const retryCounts: unknown[] = [];
    proxy.inject({
      losesResponse: ({ method, headers }) =>
        method === 'POST' && retryCounts.push(headers['x-stainless-retry-count']) === 1,
    });
    return retryCounts;
  };
  const tasksOf = ({ id }: { id: number }) =>
    target.gateway.store.read.selectFrom('tasks').selectAll().where('token_id', '=', id).execute();

  test('returns the same video, which is charged once', async () => {
    const key = await makeKey(target, { quota: 1_000 });
    const retryCounts = loseFirst();
    // Two retries are the default.
    const client = new OpenAI({ baseURL: `${proxy.url}/v1`, apiKey: key.key });
    const options = { model: 'eta-imagine-video', prompt: 'A lost boat.', seconds: '4' } as const;
    const made = await client.videos.create(options);
    expect(retryCounts).toEqual(['0', '1']);
    expect(await tasksOf(key)).toMatchObject([{ id: made.id, retry_count: 1 }]);
    await vi.waitFor(async () => expect((await sdk.videos.retrieve(made.id)).status).toBe('completed'));
    const log = (await logRows(target)).filter(({ token_id }) => token_id === key.id);
    expect(log).toMatchObject([{ operation: 'createVideo', units: 4 }]);
    expect(await remainingQuota(target, key.id)).toBe(1_000 - Number(log[0]?.quota));
    expect((await client.videos.create(options)).id).not.toBe(made.id);
    expect(await tasksOf(key)).toHaveLength(2);
  });

  test.each([
    ['/sigma/submit/music', { prompt: 'A lost song' }],
    ['/sigma/submit/lyrics', { prompt: 'A lost poem' }],
    ['/imgjob/submit/imagine', { prompt: 'a lost harbour' }],
    [
      '/api/v3/contents/generations/tasks',
      { model: 'epsilon-delta-2-0-fast-260128', content: [{ type: 'text', text: 'A lost kite.' }] },
    ],
    [
      '/api/v1/services/aigc/video-generation/3d-generation',
      { model: 'theta-3d', input: { prompt: 'A lost horse.' } },
    ],
  ])('creates one task with POST %s', async (path, body) => {
    const key = await makeKey(target, { quota: 1_000 });
    const retryCounts = loseFirst();
    const client = new OpenAI({ baseURL: proxy.url, apiKey: key.key });
    const made = await client.post(path, { body });
    expect(retryCounts).toEqual(['0', '1']);
    const tasks = await tasksOf(key);
    expect(tasks).toMatchObject([{ retry_count: 1 }]);
    expect(JSON.stringify(made)).toContain(tasks[0]?.id);
  });

  test('creates a second task if the header is switched off', async () => {
    const key = await makeKey(target, { quota: 1_000 });
    loseFirst();
    const defaultHeaders = { 'x-stainless-retry-count': null };
    const client = new OpenAI({ baseURL: proxy.url, apiKey: key.key, defaultHeaders });
    await client.post('/sigma/submit/lyrics', { body: { prompt: 'Two lost poems' } });
    expect(await tasksOf(key)).toHaveLength(2);
  });
});

test('it reads code, message, field and request id of every error', async () => {
  const unknown = await caught(sdk.audio.speech.create({ model: 'nope', voice: 'Aria', input: 'Hello.' }));
  expect(unknown).toBeInstanceOf(NotFoundError);
  expect(unknown.code).toBe('model_not_found');
  expect(unknown.requestID).toMatch(/^req_/);
  expect(unknown.param).toBe('model');
  const invalid = await caught(
    sdk.audio.speech.create({ model: 'alpha3-tts-flash', voice: 'Aria', input: 'Hello.', speed: 1000 }),
  );
  expect([invalid.status, invalid.param]).toEqual([400, 'speed']);
  const withWrongKey = new OpenAI({ baseURL: `${target.url}/v1`, apiKey: 'wrong-key-123', maxRetries: 0 });
  expect(await caught(withWrongKey.models.list())).toBeInstanceOf(AuthenticationError);
  const throttled = await caught(
    sdk.audio.speech.create({ model: 'alpha3-tts-flash', voice: 'Aria', input: 'Hello [[throttle]]' }),
  );
  expect(throttled).toBeInstanceOf(RateLimitError);
  expect(throttled.headers?.get('retry-after')).toBe('1');
});

test('its realtime socket, which requires TLS, streams speech', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'unigate-tls-'));
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
      .concat(['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'])
      .concat(['-keyout', key, '-out', certificate]),
    { stdio: 'pipe' },
  );
  const secure = await startTestGateway({ tls: readSettings({ TLS_CERT: certificate, TLS_KEY: key }).tls });
  const client = new OpenAI({ baseURL: `${secure.url}/v1`, apiKey: secure.key });
  const ca = readFileSync(certificate, 'utf8');
  const socket = new OpenAIRealtimeWS({ model: 'alpha3-tts-flash-realtime', options: { ca } }, client);
  // Its types contain only the events of its own service.
  const send = (event: { event_id: string; type: string; [field: string]: unknown }) =>
    socket.socket.send(JSON.stringify(event));
  const types: string[] = [];
  const ended = Promise.withResolvers<void>();
  socket.on('error', ended.reject);
  socket.on('event', ({ type }: { type: string }) => {
    types.push(type);
    if (type === 'session.updated') {
      send({ event_id: 'b', type: 'input_text_buffer.append', text: 'Good morning.' });
      send({ event_id: 'c', type: 'session.finish' });
    }
    if (type === 'session.finished') ended.resolve();
  });
  socket.socket.on('open', () => send({ event_id: 'a', type: 'session.update', session: { voice: 'Aria' } }));
  await ended.promise;
  expect(types).toEqual(expect.arrayContaining(['session.created', 'response.audio.delta', 'response.done']));
  socket.close();
  await secure.close();
  rmSync(folder, { recursive: true });
});
