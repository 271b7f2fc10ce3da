import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { ledgerRows, post } from './ledger.ts';

let target: TestGateway;
beforeAll(async () => {
  target = await startTestGateway();
});
afterAll(() => target.close());

const speak = (body: object) =>
  post(target.url, target.key, '/v1/audio/speech', {
    model: 'voxa-v1',
    input: 'Good morning. And good night.',
    voice: 'voxanna',
    ...body,
  });
const characters = 'Good morning. And good night.'.length;

test('voxa-v1 speaks over the duplex socket, and the response is audio bytes', async () => {
  const reply = await speak({ response_format: 'wav', extra_body: { input: { sample_rate: 16000 } } });
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'audio/wav']);
  const bytes = Buffer.from(await reply.arrayBuffer());
  expect(bytes.subarray(0, 4).toString('latin1')).toBe('RIFF');
  expect(bytes.readUInt32LE(24)).toBe(16000);
  const seconds = (bytes.length - 44) / 2 / 16000;
  expect(seconds).toBeGreaterThan(1);
  expect(seconds).toBeLessThan(6);
  expect((await ledgerRows(target)).at(-1)).toMatchObject({ state: 'settled', charged: characters });
});

test('native parameters are part of the task, and cannot replace its voice or text', async () => {
  const parameters = { sample_rate: 8000, voice: 'nobody', text: 'other' };
  const reply = await speak({ response_format: 'wav', extra_body: { parameters } });
  expect(reply.status).toBe(200);
  expect(Buffer.from(await reply.arrayBuffer()).readUInt32LE(24)).toBe(8000);
  expect((await ledgerRows(target)).at(-1)).toMatchObject({ state: 'settled', charged: characters });
});

test('a streamed response contains audio bytes, or the native events of related models', async () => {
  const pcm = await speak({ response_format: 'pcm', stream: true });
  expect((await pcm.arrayBuffer()).byteLength).toBeGreaterThan(20_000);
  const events = await speak({ stream: true, stream_format: 'sse' });
  expect(events.headers.get('content-type')).toContain('text/event-stream');
  expect(events.headers.get('cache-control')).toBe('no-cache');
  expect(events.headers.get('x-accel-buffering')).toBe('no');
  const text = await events.text();
  expect(text.startsWith('id:1\nevent:result\n:HTTP_STATUS/200\ndata:{')).toBe(true);
  const data = [...text.matchAll(/^data:(.*)$/gm)].map(([, json]) => JSON.parse(json ?? ''));
  expect(data.map(({ output }) => output.type)).toEqual(
    expect.arrayContaining(['sentence-begin', 'sentence-synthesis', 'sentence-end']),
  );
  expect(data.some(({ output }) => output.audio.data.length > 100)).toBe(true);
  // The events contain no URL, so they contain no expiry time.
  expect(text).not.toContain('expires_at');
  expect(data.at(-1)).toMatchObject({ output: { finish_reason: 'stop' }, usage: { characters } });
  expect((await ledgerRows(target)).map(({ state }) => state)).not.toContain('open');
});

test('a client that disconnects pays for the audio that it received', async () => {
  const input = 'And so on and on. '.repeat(200);
  const controller = new AbortController();
  const body = { model: 'voxa-v1', input, voice: 'voxanna', response_format: 'pcm', stream: true };
  const reply = await post(target.url, target.key, '/v1/audio/speech', body, { signal: controller.signal });
  await reply.body?.getReader().read();
  controller.abort();
  await vi.waitFor(async () =>
    expect((await ledgerRows(target)).at(-1)).toMatchObject({
      state: 'settled',
      charged: expect.any(Number),
    }),
  );
  expect((await ledgerRows(target)).at(-1)?.charged).toBeGreaterThan(0);
});

test('a client that disconnects in the second sentence pays for both, although only the first was reported', async () => {
  const sentences = [
    'The first sentence is spoken.',
    ' The second one has only begun.',
    ' And on.'.repeat(200),
  ];
  const controller = new AbortController();
  const body = { model: 'voxa-v1', input: sentences.join(''), voice: 'voxanna', response_format: 'pcm' };
  const events = { ...body, stream: true, stream_format: 'sse' };
  const reply = await post(target.url, target.key, '/v1/audio/speech', events, { signal: controller.signal });
  let text = '';
  const seen = () => [...text.matchAll(/^data:(.*)\n\n/gm)].map(([, json]) => JSON.parse(json ?? ''));
  const hasSecondSentence = () =>
    seen().some(({ output, usage }) => usage.characters > 0 && output.audio.data.length > 100);
  const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader();
  while (!hasSecondSentence()) text += (await reader?.read())?.value ?? expect.fail('the response ended');
  controller.abort();
  const [first = '', second = ''] = sentences;
  await vi.waitFor(async () =>
    expect((await ledgerRows(target)).at(-1)).toMatchObject({
      state: 'settled',
      charged: expect.any(Number),
    }),
  );
  expect((await ledgerRows(target)).at(-1)?.charged).toBeGreaterThanOrEqual((first + second).length);
});

test('a rejection by the provider is a 4xx and a broken socket a 502, and neither is charged', async () => {
  const refused = await speak({ input: 'Hello [[reject]]' });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ error: { code: 'DataInspectionFailed' } });
  expect((await ledgerRows(target)).at(-1)).toMatchObject({ state: 'refunded' });
  const throttled = await speak({ input: 'Hello [[throttle]]' });
  expect([throttled.status, throttled.headers.get('retry-after')]).toEqual([429, '1']);
  const failed = await speak({ input: 'Hello [[error]]' });
  expect(failed.status).toBe(502);
  expect((await ledgerRows(target)).at(-1)).toMatchObject({ state: 'refunded' });
});
