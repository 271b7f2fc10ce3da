import OpenAI, { APIError, AuthenticationError, NotFoundError, RateLimitError, toFile } from 'openai';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { pictures } from '../sandbox-media/media-files.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

let target: TestGateway;
let sdk: OpenAI;
beforeAll(async () => {
  target = await startTestGateway();
  sdk = new OpenAI({ baseURL: `${target.url}/v1`, apiKey: target.key, maxRetries: 0 });
});
afterAll(() => target.close());

const caught = async (call: Promise<unknown>): Promise<APIError> => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof APIError) return error;
  throw new Error(`no API error but ${String(error)}`);
};

test('an unmodified public SDK speaks', async () => {
  const reply = await sdk.audio.speech.create({ model: 'alpha3-tts-flash', voice: 'Aria', input: 'Hello.' });
  const bytes = Buffer.from(await reply.arrayBuffer());
  expect(bytes.subarray(0, 4).toString('latin1')).toBe('RIFF');
  expect(bytes.readUInt32LE(24)).toBe(24000);
});

test('it lists models', async () => {
  const ids: string[] = [];
  for await (const model of sdk.models.list()) ids.push(model.id);
  expect(ids).toContain('voxa-v3-flash');
});

test('it makes a video, waits for it, downloads it, lists it and deletes it', async () => {
  // Other models than the SDK's own, and sizes of any model.
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
      if (video.status !== 'completed') throw new Error(`it is ${video.status}`);
      return video;
    },
    { timeout: 15_000, interval: 100 },
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

test('it uploads the picture that a video begins with', async () => {
  const picture = await toFile(Buffer.from(pictures.png(300, 300)), 'start.png', { type: 'image/png' });
  const model = 'eta-imagine-video';
  const made = await sdk.videos.create({ model, prompt: 'It moves.', input_reference: picture });
  expect(made.status).toBe('queued');
  const image_url = 'https://files.example/start.png';
  const other = await sdk.videos.create({ model, prompt: 'It moves.', input_reference: { image_url } });
  expect(other.status).toBe('queued');
  const text = await toFile(Buffer.from('no picture'), 'start.png', { type: 'image/png' });
  const refused = await caught(sdk.videos.create({ model, prompt: 'It moves.', input_reference: text }));
  expect([refused.status, refused.message]).toEqual([400, expect.stringContaining('input_reference: ')]);
});

test('it reads code, message and request id of every error', async () => {
  const unknown = await caught(sdk.audio.speech.create({ model: 'nope', voice: 'Aria', input: 'Hello.' }));
  expect(unknown).toBeInstanceOf(NotFoundError);
  expect(unknown.code).toBe('model_not_found');
  expect(unknown.requestID).toMatch(/^req_/);
  const stranger = new OpenAI({ baseURL: `${target.url}/v1`, apiKey: 'wrong-key-123', maxRetries: 0 });
  expect(await caught(stranger.models.list())).toBeInstanceOf(AuthenticationError);
  const slow = await caught(
    sdk.audio.speech.create({ model: 'alpha3-tts-flash', voice: 'Aria', input: 'Hello [[throttle]]' }),
  );
  expect(slow).toBeInstanceOf(RateLimitError);
  expect(slow.headers?.get('retry-after')).toBe('1');
});
