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
  // Nothing is to get as far as a channel.
  target = await startTestGateway({ sandbox: false, channels: [channelTo('http://127.0.0.1:9')] });
});
afterAll(() => target.close());

const gamma = { model: 'gamma3.0-video' };
const seedance = { model: 'epsilon-delta-2-5-260628' };
const eta = { model: 'eta-imagine-video', prompt: 'x' };
const enrol = { model: 'voice-enrollment' };
const media = 'first_frame, last_frame, reference_image, reference_video, reference_audio, file, link';

describe('a refusal tells', () => {
  test.each<[string, string, unknown, string | RegExp]>([
    // where one of several would do, that one is enough
    ['nothing at all', native, { ...gamma, input: {} }, 'input: must have at least one of prompt, media.'],
    [
      'no kind of media',
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
      'neither sound nor words',
      voices,
      { ...enrol, input: { action: 'create_voice', target_model: 'voxa-v2', prefix: 'ab' } },
      'input: must have at least one of url, voice_prompt.',
    ],
    // of alternatives, the one that is nearest to what was sent
    [
      'empty media',
      native,
      { ...gamma, input: { media: [] } },
      'input.media: must NOT have fewer than 1 items.',
    ],
    ['a wrong prompt', native, { ...gamma, input: { prompt: 5 } }, 'input.prompt: must be string.'],
    ['no voice', speech, { model: 'voxa-v2', input: 'x', voice: 5 }, 'voice: must be string or object.'],
    ['a voice without id', speech, { model: 'voxa-v2', input: 'x', voice: {} }, 'voice.id: is required.'],
    [
      'an empty voice',
      speech,
      { model: 'voxa-v2', input: 'x', voice: '' },
      'voice: must NOT have fewer than 1 characters.',
    ],
    [
      'a length that is no length',
      videos,
      { ...eta, seconds: true },
      'seconds: must be 1 to 15: -1 is for an edit, which needs video.',
    ],
    // the choices
    [
      'an unknown service',
      voices,
      { model: 'other', input: {} },
      /^model: must be one of voice-enrollment, /,
    ],
    [
      'an unknown action',
      voices,
      { ...enrol, input: { action: 'other' } },
      'input.action: must be one of create_voice, list_voice, query_voice, update_voice, delete_voice.',
    ],
    [
      'an unknown kind of content',
      official,
      { ...seedance, content: [{ type: 'other' }] },
      'content.0.type: must be one of text, image_url, video_url, audio_url, draft_task.',
    ],
    [
      'the same in the generic form',
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
    // the form of a text, in words
    [
      'an unknown type of asset',
      assets,
      { url: 'https://files.example/a.png', asset_type: 'picture' },
      'asset_type: must be one of Image, Video, Audio.',
    ],
    [
      'no host name',
      videos,
      { ...eta, custom_domain: 'a b' },
      'custom_domain: must be a host name, without scheme, port or path.',
    ],
    [
      'no prefix',
      voices,
      {
        ...enrol,
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
      'no name of a voice',
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
      'no id for a cloned voice',
      multimodal,
      {
        model: 'beta/speech-02-hd',
        input: { text: 'x', action: 'voice_clone', voice_id: '1234567 8', audio_url: 'https://a.example' },
      },
      /^input\.voice_id: must begin with a letter/,
    ],
  ])('%s', async (_, path, body, words) => {
    const reply = await post(target.url, target.key, path, body, { headers: { 'compat-version': '1' } });
    const { error } = (await reply.json()) as { error: { message: string } };
    expect(reply.status).toBe(400);
    if (typeof words === 'string') expect(error.message).toBe(words);
    else expect(error.message).toMatch(words);
  });
});

describe('a length out of range is told one range, whichever check finds it', () => {
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

  test('and -1 of eta says what it is for', async () => {
    const reply = await post(target.url, target.key, videos, { ...eta, seconds: '-1' });
    const { error } = (await reply.json()) as { error: { message: string } };
    expect(error.message).toBe('seconds: must be 1 to 15: -1 is for an edit, which needs video.');
  });
});

describe('two lengths that disagree are a conflict, whichever is the longer', () => {
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

test('every pattern of a request has words, so that no refusal shows an expression', () => {
  const bundle = JSON.parse(readFileSync('generated/openapi.json', 'utf8')) as object;
  const wordless = new Set<string>();
  const visit = (node: unknown, name: string): void => {
    if (typeof node !== 'object' || node === null) return;
    const { pattern, 'x-form': form } = node as { pattern?: unknown; 'x-form'?: unknown };
    if (typeof pattern === 'string' && typeof form !== 'string') wordless.add(`${name} ${pattern}`);
    for (const [key, value] of Object.entries(node)) {
      // What only chooses between rules is violated without a word.
      if (!['if', 'responses', 'headers', 'callbacks'].includes(key)) visit(value, key);
    }
  };
  visit(bundle, '');
  // Those of answers, which are not read from a client.
  expect(Array.from(wordless, (one) => one.split(' ')[0] ?? '').sort()).toEqual([
    'Id',
    'NativeTime',
    'WebhookTimestamp',
    'progress',
    'progress',
    'revision',
  ]);
});
