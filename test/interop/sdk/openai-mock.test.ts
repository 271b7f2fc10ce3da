import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasSignature } from '../../conformance/wire/media-signatures.ts';
import { type Mock, startMock } from '../../mock/server.ts';

const taskMs = 10_000;
let now = Date.now();
let mock: Mock;
beforeAll(async () => {
  mock = await startMock({ now: () => now, taskMs, paceMs: 1 });
});
afterAll(() => mock.close());

test('an unmodified public SDK creates speech and a video, waits for it, downloads it and lists models', async () => {
  const sdk = new OpenAI({ baseURL: `${mock.url}/v1`, apiKey: 'sk-any', maxRetries: 0 });
  const reply = await sdk.audio.speech.create({ model: 'alpha3-tts-flash', voice: 'Aria', input: 'Hello.' });
  expect(hasSignature('audio/wav', Buffer.from(await reply.arrayBuffer()))).toBe(true);

  const created = await sdk.videos.create({ model: 'eta-imagine-video', prompt: 'A boat.', seconds: '4' });
  expect(created).toMatchObject({ status: 'queued', model: 'eta-imagine-video', seconds: '4' });
  now += taskMs;
  const done = await sdk.videos.retrieve(created.id);
  expect(done).toMatchObject({ id: created.id, status: 'completed', progress: 100 });
  const content = await sdk.videos.downloadContent(created.id);
  expect(hasSignature('video/mp4', Buffer.from(await content.arrayBuffer()))).toBe(true);
  const listed: string[] = [];
  for await (const { id } of sdk.videos.list({ limit: 1 })) listed.push(id);
  expect(listed[0]).toBe(created.id);
  expect(await sdk.videos.delete(created.id)).toMatchObject({ deleted: true });

  const models: string[] = [];
  for await (const { id } of sdk.models.list()) models.push(id);
  expect(models.length).toBeGreaterThan(0);
});
