import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { type Mock, startMock } from './server.ts';

let gateway: TestGateway;
let mock: Mock;
beforeAll(async () => {
  [gateway, mock] = await Promise.all([
    startTestGateway({ callbacks: { allowPrivate: true, secret: undefined } }),
    startMock({ taskMs: 1, paceMs: 0 }),
  ]);
}, 60_000);
afterAll(() => Promise.all([gateway.close(), mock.close()]));

async function post(target: 'mock' | 'gateway', path: string, body: object) {
  const [url, key] = target === 'mock' ? [mock.url, 'any'] : [gateway.url, gateway.key];
  const response = await fetch(url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'compat-version': '2023-06-01',
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.text()).replaceAll(/"req_\w+"/g, '"id"') };
}

const speech = { model: 'alpha3-tts-flash', voice: 'Aria', input: 'Hello.' };
const native = { model: 'alpha3-tts-flash', input: { text: 'Hello.', voice: 'Aria' } };
const video = { prompt: 'A boat.' };
const eta = 'eta-imagine-video';
const seedance = 'epsilon-delta-2-0-260128';
const gamma = 'gamma3.0-video';
const url = 'https://files.example/a';
const synthesizer = '/api/v1/services/audio/tts/SpeechSynthesizer';
const multimodal = '/api/v1/services/aigc/multimodal-generation/generation';
const customization = '/api/v1/services/audio/tts/customization';

describe('the mock rejects a request like the gateway', () => {
  test.each<[rule: string, path: string, body: object, status: number]>([
    ['an unknown model', '/v1/audio/speech', { ...speech, model: 'none' }, 404],
    ['a model of another route', synthesizer, native, 400],
    ['a model of another area', '/v1/embeddings', { model: gamma, input: 'Hello.' }, 400],
    ['a text without words', '/v1/audio/speech', { ...speech, input: ' ' }, 400],
    ['a long text', '/v1/audio/speech', { ...speech, input: 'a'.repeat(601) }, 400],
    [
      'a long text on a native route',
      multimodal,
      { ...native, input: { text: 'a'.repeat(601), voice: 'Aria' } },
      400,
    ],
    ['instructions', '/v1/audio/speech', { ...speech, instructions: 'Sing.' }, 400],
    ['a speed', '/v1/audio/speech', { ...speech, speed: 2 }, 400],
    ['a format', '/v1/audio/speech', { ...speech, response_format: 'mp3' }, 400],
    [
      'an option of another model',
      '/v1/audio/speech',
      { ...speech, extra_body: { input: { volume: 9 } } },
      400,
    ],
    ['a sample rate', '/v1/audio/speech', { ...speech, extra_body: { input: { sample_rate: 8000 } } }, 400],
    [
      'a system voice of a cloning model',
      '/v1/audio/speech',
      { ...speech, model: 'alpha3-tts-vc-2026-01-22' },
      400,
    ],
    ['two lengths', '/v1/videos', { ...video, model: seedance, seconds: '5', duration: 6 }, 400],
    ['a size of eta', '/v1/videos', { ...video, model: eta, size: '480x480', resolution: '720p' }, 400],
    ['an edit without a video', '/v1/videos', { ...video, model: eta, seconds: '-1' }, 400],
    [
      'a reference of gamma',
      '/api/v1/services/aigc/video-generation/video-synthesis',
      {
        model: gamma,
        input: { media: [{ type: 'reference_image', url: 'asset://asset-20260301120000-k3v9q' }] },
      },
      400,
    ],
    [
      'audio without a video',
      '/v1/video/generations',
      { ...video, model: seedance, metadata: { audio_url: url } },
      400,
    ],
    ['a callback in the input', '/sigma/v1/music', { input: { prompt: 'The sea.', callback_url: url } }, 400],
    [
      'a callback URL',
      '/sigma/submit/music',
      { mv: 'chirp-hawk', prompt: 'The sea.', callback_url: 'ftp://files.example' },
      400,
    ],
    [
      'a target model',
      customization,
      {
        model: 'alpha-voice-design',
        input: {
          action: 'create',
          target_model: 'alpha3-tts-flash',
          voice_prompt: 'Calm.',
          preview_text: 'Hello.',
          preferred_name: 'calm',
        },
      },
      400,
    ],
  ])('%s', async (_, path, body, status) => {
    const onGateway = await post('gateway', path, body);
    expect(onGateway.status, onGateway.body).toBe(status);
    expect(await post('mock', path, body)).toEqual(onGateway);
  });
});

test.each<[rule: string, path: string, body: object]>([
  ['a custom voice', '/v1/audio/speech', { ...speech, model: 'alpha3-tts-vc-2026-01-22', voice: 'own' }],
  ['an asset', '/v1/videos', { ...video, model: gamma, image: 'asset://asset-20260301120000-k3v9q' }],
  ['an asset', '/v1/videos', { ...video, model: seedance, image: 'asset://asset-20260301120000-k3v9q' }],
  [
    'a song',
    '/sigma/submit/music',
    { mv: 'chirp-hawk', prompt: 'On.', continue_clip_id: 'c', continue_at: 1 },
  ],
])('the mock accepts %s that it cannot know', async (_, path, body) => {
  expect(await post('mock', path, body)).toMatchObject({ status: 200 });
});
