import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo } from '../support/upstream.ts';
import { post } from './ledger.ts';

const native = '/api/v1/services/aigc/video-generation/video-synthesis';
const official = '/api/v3/contents/generations/tasks';
const voices = '/api/v1/services/audio/tts/customization';
const multimodal = '/api/v1/services/aigc/multimodal-generation/generation';
const speech = '/v1/audio/speech';
const videos = '/v1/videos';
const assets = '/api/assets/upload';

let target: TestGateway;
beforeAll(async () => {
  // No request reaches this channel.
  target = await startTestGateway({ sandbox: false, channels: [channelTo('http://127.0.0.1:9')] });
});
afterAll(() => target.close());

const gamma = { model: 'gamma3.0-video' };
const seedance = { model: 'epsilon-delta-2-5-260628' };
const eta = { model: 'eta-imagine-video', prompt: 'x' };
const enrollment = { model: 'voice-enrollment' };
const media = 'first_frame, last_frame, reference_image, reference_video, reference_audio, file, link';

describe('the message for', () => {
  test.each<[string, string, unknown, string | RegExp]>([
    // One of several fields is enough.
    ['an empty input', native, { ...gamma, input: {} }, 'input: must have at least one of prompt, media.'],
    [
      'a request without prompt and media',
      videos,
      gamma,
      'body: must have at least one of prompt, image, images, reference_images, video, input_reference, metadata.',
    ],
    [
      'metadata without media',
      videos,
      { ...seedance, metadata: { seed: 1 } },
      'metadata: must have at least one of input.media, input, content, video_url, audio_url.',
    ],
    [
      'a voice without audio and prompt',
      voices,
      { ...enrollment, input: { action: 'create_voice', target_model: 'voxa-v2', prefix: 'ab' } },
      'input: must have at least one of url, voice_prompt.',
    ],
    // The closest of several alternatives is described.
    [
      'empty media',
      native,
      { ...gamma, input: { media: [] } },
      'input.media: must NOT have fewer than 1 items.',
    ],
    [
      'an empty list of texts',
      '/v1/embeddings',
      { model: 'm', input: [] },
      'input: must NOT have fewer than 1 items.',
    ],
    ['a wrong prompt', native, { ...gamma, input: { prompt: 5 } }, 'input.prompt: must be string.'],
    [
      'a voice of the wrong type',
      speech,
      { model: 'voxa-v2', input: 'x', voice: 5 },
      'voice: must be string or object.',
    ],
    ['a voice without id', speech, { model: 'voxa-v2', input: 'x', voice: {} }, 'voice.id: is required.'],
    [
      'an empty voice',
      speech,
      { model: 'voxa-v2', input: 'x', voice: '' },
      'voice: must NOT have fewer than 1 characters.',
    ],
    [
      'a duration of the wrong type',
      videos,
      { ...eta, seconds: true },
      'seconds: must be 1 to 15: -1 is for an edit, which needs video.',
    ],
    // The choices are listed.
    [
      'an unknown service',
      voices,
      { model: 'other', input: {} },
      /^model: must be one of voice-enrollment, /,
    ],
    [
      'an unknown action',
      voices,
      { ...enrollment, input: { action: 'other' } },
      'input.action: must be one of create_voice, list_voice, query_voice, update_voice, delete_voice.',
    ],
    [
      'an unknown kind of content',
      official,
      { ...seedance, content: [{ type: 'other' }] },
      'content.0.type: must be one of text, image_url, video_url, audio_url, draft_task.',
    ],
    [
      'an unknown kind of content in the generic format',
      videos,
      { ...seedance, metadata: { content: [{ type: 'other' }] } },
      'metadata.content.0.type: must be one of text, image_url, video_url, audio_url, draft_task.',
    ],
    [
      'a block of a message without its text',
      '/v1/messages',
      { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      'messages.0.content.0.text: is required.',
    ],
    [
      'an unknown kind of media',
      native,
      { ...gamma, input: { media: [{ type: 'other', url: 'https://files.example/a' }] } },
      `input.media.0.type: must be one of ${media}.`,
    ],
    // The format of a string is described in words.
    [
      'an unknown type of asset',
      assets,
      { url: 'https://files.example/a.png', asset_type: 'picture' },
      'asset_type: must be one of Image, Video, Audio.',
    ],
    [
      'an invalid host name',
      videos,
      { ...eta, custom_domain: 'a b' },
      'custom_domain: must be a host name, without scheme, port or path.',
    ],
    [
      'an invalid prefix',
      voices,
      {
        ...enrollment,
        input: {
          action: 'create_voice',
          target_model: 'voxa-v2',
          prefix: 'a b',
          url: 'https://files.example',
        },
      },
      'input.prefix: must be 1 to 10 letters and digits.',
    ],
    [
      'an invalid voice name',
      voices,
      {
        model: 'alpha-voice-enrollment',
        input: {
          action: 'create',
          target_model: 'm',
          preferred_name: 'a b',
          audio: { data: 'https://a.example' },
        },
      },
      'input.preferred_name: must be 1 to 16 letters, digits and underscores.',
    ],
    [
      'an invalid id for a cloned voice',
      multimodal,
      {
        model: 'beta/speech-02-hd',
        input: { text: 'x', action: 'voice_clone', voice_id: '1234567 8', audio_url: 'https://a.example' },
      },
      /^input\.voice_id: must begin with a letter/,
    ],
  ])('%s', async (_, path, body, expected) => {
    const reply = await post(target.url, target.key, path, body, { headers: { 'compat-version': '1' } });
    const { error } = (await reply.json()) as { error: { message: string } };
    expect(reply.status).toBe(400);
    if (typeof expected === 'string') expect(error.message).toBe(expected);
    else expect(error.message).toMatch(expected);
  });
});

describe('a duration out of range gets the same range from every check', () => {
  const seconds = ['0', '16', '-2', 'five', '99999', '1.5', 0, 16, -2, 1.5, 99_999];
  test.each([
    ...seconds.map((value) => [
      videos,
      { ...eta, seconds: value },
      'seconds',
      '1 to 15: -1 is for an edit, which needs video',
    ]),
    ...[0, 16, -2, 1.5].map((value) => [
      videos,
      { ...eta, duration: value },
      'duration',
      '1 to 15: -1 is for an edit, which needs video',
    ]),
    ...['1', '31', 1, 31, 0].map((value) => [
      '/v1/video/generations',
      { ...gamma, prompt: 'x', seconds: value },
      'seconds',
      '-1 or 2 to 30',
    ]),
    ...[1, 31].map((value) => [
      native,
      { ...gamma, input: { prompt: 'x' }, parameters: { duration: value } },
      'parameters.duration',
      '-1 or 2 to 30',
    ]),
    ...['3', '31', 3, 31].map((value) => [
      videos,
      { ...seedance, prompt: 'x', seconds: value },
      'seconds',
      '-1 or 4 to 30',
    ]),
    ...[3, 31, 0].map((value) => [
      official,
      { ...seedance, content: [{ type: 'text', text: 'x' }], duration: value },
      'duration',
      '-1 or 4 to 30',
    ]),
  ] as [string, object, string, string][])('%s %j', async (path, body, field, range) => {
    const reply = await post(target.url, target.key, path, body);
    const { error } = (await reply.json()) as { error: { message: string } };
    expect(`${reply.status} ${error.message}`).toBe(`400 ${field}: must be ${range}.`);
  });

  test('the range of eta explains -1', async () => {
    const reply = await post(target.url, target.key, videos, { ...eta, seconds: '-1' });
    const { error } = (await reply.json()) as { error: { message: string } };
    expect(error.message).toBe('seconds: must be 1 to 15: -1 is for an edit, which needs video.');
  });
});

describe('seconds and duration that differ are a conflict, whichever is longer', () => {
  test.each(
    [seedance, eta].flatMap((model) => [
      [{ ...model, prompt: 'x', seconds: '5', duration: 4 }],
      [{ ...model, prompt: 'x', seconds: 5, duration: 6 }],
    ]),
  )('%j', async (body) => {
    for (const path of [videos, '/v1/video/generations']) {
      const reply = await post(target.url, target.key, path, body);
      expect(await reply.json()).toMatchObject({
        error: {
          code: 'invalid_media_combination',
          message: 'duration: disagrees with seconds, which is 5; give one of them.',
        },
      });
    }
  });
});

test('every pattern of a request has a description, so no message contains a regular expression', () => {
  const bundle = JSON.parse(readFileSync('generated/openapi.json', 'utf8')) as object;
  const undescribed = new Set<string>();
  const visit = (node: unknown, name: string): void => {
    if (typeof node !== 'object' || node === null) return;
    const { pattern, 'x-form': description } = node as { pattern?: unknown; 'x-form'?: unknown };
    if (typeof pattern === 'string' && typeof description !== 'string') undescribed.add(`${name} ${pattern}`);
    for (const [key, value] of Object.entries(node)) {
      // A violated `if` produces no message. The others are not part of a request body.
      if (!['if', 'responses', 'headers', 'callbacks'].includes(key)) visit(value, key);
    }
  };
  visit(bundle, '');
  // Patterns of responses and of query parameters.
  expect(Array.from(undescribed, (one) => one.split(' ')[0] ?? '').sort()).toEqual([
    'Id',
    'NativeTime',
    'WebhookTimestamp',
    'currency',
    'progress',
    'progress',
    'revision',
  ]);
});
