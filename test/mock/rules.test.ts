import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { connect } from '../support/socket-client.ts';
import type { Frame } from '../support/socket-upstream.ts';
import { type Mock, startMock } from './server.ts';
import { append, eventOf, finish, headerOf, run, text, update } from './sockets/client-events.ts';

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
const beta = { model: 'beta/speech-2.8-hd', voice: 'beta_female_calm' };
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
      'a sample rate that only the provider knows',
      '/v1/audio/speech',
      {
        ...speech,
        model: 'voxa-v3-flash',
        voice: 'voxanna',
        extra_body: { input: { sample_rate: 12_345 } },
      },
      400,
    ],
    [
      'a bit rate that only the provider knows',
      '/v1/audio/speech',
      { ...speech, ...beta, extra_body: { input: { audio_setting: { bitrate: 1 } } } },
      400,
    ],
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

/** Sends frames, the second one after the confirmation of the first. Returns the first error and the close code. */
async function failureOf(target: 'mock' | 'gateway', path: string, frames: readonly (object | string)[]) {
  const [url, key] = target === 'mock' ? [mock.url, 'any'] : [gateway.url, gateway.key];
  const client = await connect(url + path, { key });
  const nameOf = ({ type, header }: Frame) => type ?? (header as Frame).event;
  if (path.includes('realtime')) await client.next((frame) => nameOf(frame) === 'session.created');
  for (const [index, frame] of frames.entries()) {
    client.send(frame);
    if (index < frames.length - 1)
      await client.next((one) => ['session.updated', 'task-started'].includes(String(nameOf(one))));
  }
  const failed = await client.next((one) => ['error', 'task-failed'].includes(String(nameOf(one))));
  if (failed.type === 'error') client.socket.close(1000);
  const { code, reason } = await client.closed;
  return { ...failed, event_id: undefined, closed: { code, reason } };
}

describe('the mock rejects an event like the gateway', () => {
  const realtime = '/api-ws/v1/realtime?model=alpha3-tts-flash-realtime';
  const legacy = '/v1/realtime?model=alpha-tts-realtime';
  const cloned = '/v1/realtime?model=alpha3-tts-vc-realtime-2026-01-15';
  const inference = '/api-ws/v1/inference?model=voxa-v3-flash';
  const voice = 'Aria';
  test.each<[rule: string, path: string, frames: (object | string)[]]>([
    ['invalid JSON', realtime, ['{']],
    ['an unknown event', realtime, [eventOf('session.delete')]],
    ['an event without an id', realtime, [{ type: 'session.finish' }]],
    ['a text that is a number', realtime, [append(1)]],
    ['an unknown mode', realtime, [update({ voice, mode: 'x' })]],
    ['text before the settings', realtime, [append('Hi')]],
    ['an empty buffer', realtime, [update({ voice }), eventOf('input_text_buffer.commit')]],
    ['an event id twice', realtime, [update({ voice }), append('Hi', 'e1')]],
    ['another model', realtime, [update({ voice, model: 'x' })]],
    ['instructions', realtime, [update({ voice, instructions: 'Sing.' })]],
    ['MP3 of a legacy model', legacy, [update({ voice: 'Clio', response_format: 'mp3' })]],
    ['a sample rate of a legacy model', legacy, [update({ voice: 'Clio', sample_rate: 8000 })]],
    ['the volume of a legacy model', legacy, [update({ voice: 'Clio', volume: 0 })]],
    ['a system voice of a cloning model', cloned, [update({ voice })]],
    ['an unknown action', inference, [{ header: headerOf('stop'), payload: {} }]],
    ['a value out of range', inference, [run({ volume: 101 })]],
    ['text without a task', inference, [text('Hi')]],
    ['a finish without a task', inference, [finish]],
    ['another model in a task', inference, [{ ...run(), payload: { ...run().payload, model: 'x' } }]],
    ['the text of another task', inference, [run(), text('Hi', '5d2f0c3e8b7a4f169a3d2c1b0e9f8a7e')]],
    ['a text that is too long', inference, [run(), text('a'.repeat(20_001))]],
    ['a second task at once', inference, [run(), run({}, '5d2f0c3e8b7a4f169a3d2c1b0e9f8a7e')]],
  ])('%s', async (_, path, frames) => {
    const onGateway = await failureOf('gateway', path, frames);
    expect(await failureOf('mock', path, frames)).toEqual(onGateway);
  });
});
