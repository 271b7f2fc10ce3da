import { createAlibaba } from '@ai-sdk/alibaba';
import { createByteDance } from '@ai-sdk/bytedance';
import { createOpenAI } from '@ai-sdk/openai';
import { APICallError, embedMany, experimental_generateVideo, generateSpeech } from 'ai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeKey } from '../../server/ledger.ts';
import { startFaultInjectingProxy } from '../../support/fault-injecting-proxy.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';

let target: TestGateway;
beforeAll(async () => {
  target = await startTestGateway();
});
afterAll(() => target.close());

const prompt = 'A paper boat.';

test('the AI SDK creates speech', async () => {
  const openai = createOpenAI({ baseURL: `${target.url}/v1`, apiKey: target.key });
  const { audio } = await generateSpeech({
    model: openai.speech('voxa-v3-flash'),
    text: 'Good morning.',
    voice: 'voxanna',
    outputFormat: 'wav',
  });
  expect(Buffer.from(audio.uint8Array.subarray(0, 4)).toString()).toBe('RIFF');
  const rejected = await apiError(
    generateSpeech({
      model: openai.speech('voxa-v3-flash'),
      text: 'Hi.',
      voice: 'nobody',
      maxRetries: 0,
    }),
  );
  expect([rejected.statusCode, rejected.message]).toEqual([400, expect.stringContaining('nobody')]);
});

test('it creates embeddings', async () => {
  const openai = createOpenAI({ baseURL: `${target.url}/v1`, apiKey: target.key });
  const model = openai.embeddingModel('theta-embedding-1');
  const { embeddings, usage } = await embedMany({ model, values: [prompt, prompt] });
  expect([embeddings.length, embeddings[0]?.length, usage.tokens]).toEqual([2, 512, 8]);
  expect(embeddings[1]).toEqual(embeddings[0]);
});

/** Calls an SDK and returns the API error that it throws. */
const apiError = async (call: Promise<unknown>): Promise<APICallError> => {
  const error = await call.catch((reason: unknown) => reason);
  if (!APICallError.isInstance(error)) throw new Error(`expected an API error, got ${String(error)}`);
  return error;
};

test('its default voice and format are those of another service', async () => {
  const openai = createOpenAI({ baseURL: `${target.url}/v1`, apiKey: target.key });
  const withoutVoice = { model: openai.speech('voxa-v3-flash'), text: 'Hi.', maxRetries: 0 };
  const voice = await apiError(generateSpeech(withoutVoice));
  expect([voice.statusCode, voice.message]).toEqual([400, expect.stringMatching(/voice: .*alloy/)]);
  const alpha = { model: openai.speech('alpha3-tts-flash'), text: 'Hi.', voice: 'Aria', maxRetries: 0 };
  const format = await apiError(generateSpeech(alpha));
  expect([format.statusCode, format.message]).toEqual([400, expect.stringContaining('response_format: ')]);
  const { audio } = await generateSpeech({ ...alpha, outputFormat: 'wav' });
  expect(Buffer.from(audio.uint8Array.subarray(0, 4)).toString()).toBe('RIFF');
});

test('its provider for the gamma native route ignores baseURL for videos', async () => {
  const urls: string[] = [];
  const provider = createAlibaba({
    baseURL: target.url,
    apiKey: target.key,
    async fetch(url) {
      urls.push(url instanceof Request ? url.url : url.toString());
      return new Response('{}', { status: 400 });
    },
  });
  await apiError(
    experimental_generateVideo({ model: provider.video('gamma3.0-video'), prompt, maxRetries: 0 }),
  );
  expect(urls).toHaveLength(1);
  expect(urls[0]).not.toContain(target.url);
});

test('it refuses to download from a loopback address without download', async () => {
  const provider = createByteDance({ baseURL: `${target.url}/api/v3`, apiKey: target.key });
  const call = experimental_generateVideo({
    model: provider.video('epsilon-delta-2-0-fast-260128'),
    prompt,
    duration: 4,
    maxRetries: 0,
    providerOptions: { bytedance: { pollIntervalMs: 200 } },
  });
  await expect(call).rejects.toThrow(/127\.0\.0\.1/);
});

test('its provider for the Seedance official route needs the path /api/v3', async () => {
  const provider = createByteDance({ baseURL: target.url, apiKey: target.key });
  const call = experimental_generateVideo({
    model: provider.video('epsilon-delta-2-0-fast-260128'),
    prompt,
    maxRetries: 0,
  });
  expect((await apiError(call)).statusCode).toBe(404);
});

/** Downloads a file, because the SDK rejects loopback addresses. */
const download = async ({ url }: { url: URL }) => {
  const response = await fetch(url);
  const data = new Uint8Array(await response.arrayBuffer());
  return { data, mediaType: response.headers.get('content-type') ?? undefined };
};

test('its provider for the gamma native route creates a video', async () => {
  const provider = createAlibaba({ videoBaseURL: target.url, apiKey: target.key });
  const { video } = await experimental_generateVideo({
    model: provider.video('gamma3.0-video'),
    prompt,
    duration: 2,
    download,
    providerOptions: { alibaba: { pollIntervalMs: 200 } },
  });
  expect(Buffer.from(video.uint8Array.subarray(4, 8)).toString()).toBe('ftyp');
});

test('its provider for the Seedance official route creates a video', async () => {
  const provider = createByteDance({ baseURL: `${target.url}/api/v3`, apiKey: target.key });
  const { video } = await experimental_generateVideo({
    model: provider.video('epsilon-delta-2-0-fast-260128'),
    prompt,
    duration: 4,
    download,
    providerOptions: { bytedance: { pollIntervalMs: 200 } },
  });
  expect(Buffer.from(video.uint8Array.subarray(4, 8)).toString()).toBe('ftyp');
});

/** Sends no retry count, so a retry is recognized by an idempotency key only. */
test.each([
  ['without retries', { maxRetries: 0 }],
  ['with an idempotency key', { headers: { 'Idempotency-Key': 'one-video' } }],
])('it creates one task after a lost response %s', async (_, options) => {
  const proxy = await startFaultInjectingProxy(target.url);
  const key = await makeKey(target, { quota: 1_000 });
  let requests = 0;
  proxy.inject({
    losesResponse: ({ method }) => {
      requests += method === 'POST' ? 1 : 0;
      return requests === 1;
    },
  });
  const provider = createByteDance({ baseURL: `${proxy.url}/api/v3`, apiKey: key.key });
  const generated = experimental_generateVideo({
    model: provider.video('epsilon-delta-2-0-fast-260128'),
    prompt,
    duration: 4,
    download,
    providerOptions: { bytedance: { pollIntervalMs: 200 } },
    ...options,
  });
  if ('maxRetries' in options) await expect(generated).rejects.toThrow();
  else expect((await generated).videos).toHaveLength(1);
  expect(requests).toBe('maxRetries' in options ? 1 : 2);
  const { read } = target.gateway.store;
  expect(await read.selectFrom('tasks').select('id').where('token_id', '=', key.id).execute()).toHaveLength(
    1,
  );
  await proxy.close();
});
