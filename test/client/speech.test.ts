import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  type SpeechEvent,
  Unigate,
} from '../../client/index.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let client: Unigate;

beforeAll(async () => {
  gateway = await startTestGateway();
  client = new Unigate({ baseUrl: gateway.url, apiKey: gateway.key, maxRetries: 0 });
});
afterAll(() => gateway.close());

const voxa = { model: 'voxa-v3-flash', voice: 'voxanna', input: 'Good morning from one key.' };
const alpha = { model: 'alpha3-tts-flash', voice: 'Aria', input: 'Good morning from one key.' };
const ascii = (bytes: Uint8Array, start: number, end: number) =>
  String.fromCharCode(...bytes.slice(start, end));

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('speech.create', () => {
  test('wav has the size in its header', async () => {
    const audio = await client.speech.create({ ...alpha, response_format: 'wav' });
    expect(audio.contentType).toBe('audio/wav');
    expect(audio.requestId).toMatch(/^req_/);
    const bytes = await audio.bytes();
    const view = new DataView(bytes.buffer);
    expect([ascii(bytes, 0, 4), ascii(bytes, 8, 12)]).toEqual(['RIFF', 'WAVE']);
    expect(view.getUint32(4, true)).toBe(bytes.length - 8);
    expect(view.getUint32(24, true)).toBe(24_000);
    expect(bytes.length).toBeGreaterThan(24_000);
  });

  test.each([
    ['mp3', 'audio/mpeg', (bytes: Uint8Array) => bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0],
    ['opus', 'audio/ogg', (bytes: Uint8Array) => ascii(bytes, 0, 4) === 'OggS'],
    ['wav', 'audio/wav', (bytes: Uint8Array) => ascii(bytes, 0, 4) === 'RIFF'],
    ['pcm', 'audio/pcm', (bytes: Uint8Array) => bytes.length % 2 === 0],
  ] as const)('%s', async (response_format, contentType, isFormat) => {
    const audio = await client.speech.create({ ...voxa, response_format });
    expect(audio.contentType).toContain(contentType);
    const bytes = await audio.bytes();
    expect(bytes.length).toBeGreaterThan(2_000);
    expect(isFormat(bytes)).toBe(true);
  });

  test('streams', async () => {
    const audio = await client.speech.create({ ...alpha, response_format: 'pcm', stream: true });
    expect(audio.contentType).toContain('audio/pcm');
    const chunks = await collect(audio);
    expect(chunks.reduce((sum, { length }) => sum + length, 0)).toBeGreaterThan(24_000);
  });
});

describe('native routes', () => {
  const audioOf = (event: SpeechEvent) =>
    'audio' in event.output ? Buffer.from(event.output.audio?.data ?? '', 'base64').length : 0;

  test('events contain the audio and finally the usage', async () => {
    const stream = client.speech.events({ ...voxa, response_format: 'mp3' });
    const events = await collect(stream);
    expect(stream.requestId).toMatch(/^req_/);
    expect(events.reduce((sum, event) => sum + audioOf(event), 0)).toBeGreaterThan(2_000);
    expect(events.at(-1)).toMatchObject({ output: { finish_reason: 'stop' }, usage: { characters: 26 } });
  });

  test('synthesize and its events', async () => {
    const body = { model: voxa.model, input: { text: voxa.input, voice: voxa.voice } };
    const { output, usage } = await client.speech.synthesize(body);
    expect({ reason: output.finish_reason, usage }).toMatchObject({
      reason: 'stop',
      usage: { characters: 26 },
    });
    const file = await fetch(output.audio.url ?? '');
    expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(2_000);
    const events = await collect(client.speech.synthesizeEvents(body));
    expect(events.at(-1)).toMatchObject({ output: { finish_reason: 'stop' }, usage: { characters: 26 } });
  });

  test('multimodal and its events', async () => {
    const body = { model: alpha.model, input: { text: alpha.input, voice: alpha.voice } };
    const reply = await client.speech.multimodal(body);
    expect(reply).toMatchObject({ output: { audio: { data: '' } }, usage: { characters: 26 } });
    const events = await collect(client.speech.multimodalEvents(body));
    expect(events.reduce((sum, event) => sum + audioOf(event), 0)).toBeGreaterThan(24_000);
    expect(events.at(-1)).toMatchObject({ output: { finish_reason: 'stop' }, usage: { characters: 26 } });
  });
});

describe('errors of the gateway', () => {
  test.each([
    ['an unknown model', { ...alpha, model: 'alpha9' }, NotFoundError],
    ['an unknown voice', { ...alpha, voice: 'Nobody' }, BadRequestError],
    ['a text over the limit', { ...alpha, input: 'a'.repeat(601) }, BadRequestError],
  ])('%s', async (_, body, Class) => {
    const expected = { constructor: Class, requestId: expect.stringMatching(/^req_/) };
    await expect(client.speech.create(body)).rejects.toMatchObject(expected);
    await expect(collect(client.speech.events(body))).rejects.toMatchObject(expected);
  });

  test('an invalid key', async () => {
    const invalidClient = new Unigate({ baseUrl: gateway.url, apiKey: 'sk-wrong' });
    await expect(invalidClient.models.list()).rejects.toBeInstanceOf(AuthenticationError);
  });
});

test('models.list returns usable voices', async () => {
  const models = await client.models.list();
  const model = models.find(({ id }) => id === 'alpha3-tts-flash');
  expect(model?.unit).toBe('characters');
  for (const { id: voice } of model?.voices ?? []) {
    const audio = await client.speech.create({ ...alpha, input: 'Hi.', voice });
    expect((await audio.bytes()).length).toBeGreaterThan(1_000);
  }
});
