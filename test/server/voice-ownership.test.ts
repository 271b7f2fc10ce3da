import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { voicesIn } from '../../server/providers/native/voice-fields.ts';
import { engines } from '../store/engines.ts';
import { createOtherUser, saveVoice, voiceFields, withFieldAt } from '../support/custom-voices.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { ledgerRows, post } from './ledger.ts';

const synthesizer = '/api/v1/services/audio/tts/SpeechSynthesizer';
const multimodal = '/api/v1/services/aigc/multimodal-generation/generation';
const customization = '/api/v1/services/audio/tts/customization';
const text = 'Hi';

/** Voice ids by provider family: owned by the caller, owned by another user, and deleted. */
const voices = {
  voxa: { model: 'voxa-v2', own: 'voxa-v2-anna-1', foreign: 'voxa-v2-bob-1', deleted: 'voxa-v2-gone-1' },
  alpha: {
    model: 'alpha3-tts-flash',
    own: 'alpha-tts-vc-anna-voice-20260101-aaaa',
    foreign: 'alpha-tts-vc-bob-voice-20260101-bbbb',
    deleted: 'alpha-tts-vd-gone-voice-20260101-cccc',
  },
  beta: { model: 'beta/speech-02-hd', own: 'annas-own', foreign: 'bobs-own', deleted: 'voxa-v2-gone-1' },
};
type Kind = keyof typeof voices;

interface Route {
  name: string;
  kind: Kind;
  path: string;
  body: object;
  /** Path of the native body within this body. */
  prefix: string;
  paths: readonly string[];
  clones?: boolean;
}

const routes: Route[] = [
  {
    name: 'the synthesizer',
    kind: 'voxa',
    path: synthesizer,
    body: { model: 'voxa-v2', input: { text, voice: 'v1' } },
    prefix: '',
    paths: voiceFields.synthesizer,
  },
  {
    name: 'the multimodal route, an alpha model',
    kind: 'alpha',
    path: multimodal,
    body: { model: 'alpha3-tts-flash', input: { text, voice: 'v1' } },
    prefix: '',
    paths: voiceFields.multimodal,
  },
  {
    name: 'the multimodal route, a beta model',
    kind: 'beta',
    path: multimodal,
    body: { model: 'beta/speech-02-hd', input: { text, voice_setting: { voice_id: 'v1' } } },
    prefix: '',
    paths: voiceFields.multimodal,
  },
  {
    name: 'the multimodal route, a beta voice being cloned',
    kind: 'beta',
    path: multimodal,
    body: {
      model: 'beta/speech-02-hd',
      input: { text, action: 'voice_clone', voice_id: 'a-new-voice', audio_url: 'https://x.example/a.wav' },
    },
    prefix: '',
    paths: voiceFields.multimodal.filter((voiceField) => voiceField !== 'input.voice_id'),
    clones: true,
  },
  {
    name: 'the standard route, a voxa model',
    kind: 'voxa',
    path: '/v1/audio/speech',
    body: { model: 'voxa-v2', input: text, voice: 'v1' },
    prefix: 'extra_body.',
    // The field `voice` of the request replaces this one.
    paths: voiceFields.synthesizer.filter((voiceField) => voiceField !== 'input.voice'),
  },
  {
    name: 'the standard route, an alpha model',
    kind: 'alpha',
    path: '/v1/audio/speech',
    body: { model: 'alpha3-tts-flash', input: text, voice: 'v1' },
    prefix: 'extra_body.',
    // Alpha models refuse these fields with another error.
    paths: ['input.voice_id', 'parameters.voice', 'parameters.voice_id'],
  },
  {
    name: 'the standard route, a beta model',
    kind: 'beta',
    path: '/v1/audio/speech',
    body: { model: 'beta/speech-02-hd', input: text, voice: 'v1' },
    prefix: 'extra_body.',
    paths: voiceFields.multimodal.filter((voiceField) => voiceField !== 'input.voice_setting.voice_id'),
  },
];

/** Fields outside every protocol that a provider might read all the same. */
const unknownFields = [
  'input.Voice-Id',
  'input.voices[]',
  'input.speaker.name',
  'input.deep.deeper[].voice_id',
  'input.clone_prompt.prompt_audio',
  'parameters.style',
  'extra.anything',
];

/** The standard route accepts only input and parameters. */
const fieldsOf = ({ prefix, paths }: Route) =>
  [...paths, ...unknownFields].filter((voiceField) => prefix === '' || !voiceField.startsWith('extra.'));

describe.each(engines)('on %s', (engine) => {
  let first: RecordingUpstream;
  let second: RecordingUpstream;
  let target: TestGateway;
  let otherUser: Awaited<ReturnType<typeof createOtherUser>>;

  beforeAll(async () => {
    const provider = () =>
      startUpstream((_request, response) => {
        response.setHeader('content-type', 'application/json');
        const output = {
          finish_reason: 'stop',
          audio: { data: 'UklGRg==' },
          base_resp: { status_code: 0, status_msg: '' },
        };
        response.end(JSON.stringify({ request_id: 'r', output, usage: { characters: 2, count: 1 } }));
      });
    first = await provider();
    second = await provider();
    // Neither channel lists its voices, so voices without a known owner are forwarded.
    const channels = [
      channelTo(first.url, { name: 'first', priority: 2 }),
      channelTo(second.url, { name: 'second' }),
    ];
    target = await startTestGateway({ sandbox: false, channels }, engine);
    otherUser = await createOtherUser(target.gateway);
    for (const [kind, { model, own, foreign }] of Object.entries(voices)) {
      const service = kind === 'beta' ? 'voice_clone' : 'voice-enrollment';
      await saveVoice(target.gateway, { id: own, userId: 1, model, channel: 'second', service });
      await saveVoice(target.gateway, {
        id: foreign,
        userId: otherUser.userId,
        model,
        channel: 'first',
        service,
      });
    }
  });
  beforeEach(() => {
    first.seen.length = 0;
    second.seen.length = 0;
  });
  afterAll(async () => {
    await target.close();
    await first.close();
    await second.close();
  });

  const send = async ({ path, body, prefix }: Route, voiceField: string, voice: unknown) => {
    const reply = await post(
      target.url,
      target.key,
      path,
      withFieldAt(body, prefix + voiceField, voice, { weight: 1 }),
    );
    const responseText = await reply.text();
    const { status } = reply;
    const errorBody =
      status === 200 ? undefined : (JSON.parse(responseText) as { error: { message: string } });
    return { voiceField, status, message: errorBody?.error.message };
  };
  const seen = () => [...first.seen, ...second.seen];

  test.each(routes)('a voice of another user is refused in every field: $name', async (route) => {
    const { foreign, deleted } = voices[route.kind];
    const before = (await ledgerRows(target)).length;
    for (const voiceField of fieldsOf(route)) {
      const refusal = await send(route, voiceField, foreign);
      const field = `${route.prefix}${voiceField}`.replaceAll('[]', '.0');
      expect(refusal).toMatchObject({
        status: 400,
        message: expect.stringContaining(`${field}: "${foreign}" is not a voice of`),
      });
      // A deleted voice is refused with the same message.
      const { message } = await send(route, voiceField, deleted);
      expect([voiceField, message?.replace(deleted, foreign)]).toEqual([voiceField, refusal.message]);
    }
    expect(seen()).toEqual([]);
    expect(await ledgerRows(target)).toHaveLength(before);
  });

  test.each(routes.filter(({ clones }) => !clones))(
    'an own voice is accepted in every field, and selects the channel: $name',
    async (route) => {
      for (const voiceField of fieldsOf(route)) {
        const { status, message } = await send(route, voiceField, voices[route.kind].own);
        expect([voiceField, status, message]).toEqual([voiceField, 200, undefined]);
        const named = route.paths.includes(voiceField) || /voice|speaker/i.test(voiceField);
        expect([voiceField, seen().length, second.seen.length]).toEqual([voiceField, 1, named ? 1 : 0]);
        first.seen.length = 0;
        second.seen.length = 0;
      }
    },
  );

  const native = (path: string, body: object) => post(target.url, target.key, path, body);
  const voxa = (change: object) =>
    native(synthesizer, { model: 'voxa-v2', input: { text, voice: 'v1' }, ...change });

  test.each([
    ['query_voice', {}],
    ['update_voice', { url: 'https://files.example/b.wav' }],
    ['delete_voice', {}],
    ['list_voice', {}],
    ['create_voice', { target_model: 'voxa-v2', prefix: 'new', url: 'https://files.example/b.wav' }],
  ])('%s refuses a voice of another user in every field', async (action, fields) => {
    const { own, foreign, deleted } = voices.voxa;
    const managed = /query|update|delete/.test(action);
    const body = { model: 'voice-enrollment', input: { action, voice_id: managed ? own : '', ...fields } };
    const otherFields = voiceFields.customization.filter((voiceField) => voiceField !== 'input.voice_id');
    for (const voiceField of [...otherFields, 'input.ids[]', 'parameters.deep.voice_id', 'extra.anything']) {
      for (const voice of [foreign, deleted]) {
        const reply = await post(target.url, target.key, customization, withFieldAt(body, voiceField, voice));
        const field = voiceField.replace('[]', '.0');
        expect([voiceField, reply.status, await reply.json()]).toEqual([
          voiceField,
          400,
          { error: expect.objectContaining({ message: `${field}: there is no voice "${voice}".` }) },
        ]);
      }
    }
    // The service reads this field and ignores the other one.
    const both = { ...body, input: { ...body.input, voice: own, voice_id: foreign } };
    const reply = await post(target.url, target.key, customization, both);
    expect(reply.status).toBe(managed ? 404 : action === 'list_voice' ? 200 : 400);
    expect(seen()).toEqual([]);
  });

  test('voices of different channels cannot be combined', async () => {
    await saveVoice(target.gateway, { id: 'voxa-v2-anna-2', userId: 1, model: 'voxa-v2', channel: 'first' });
    const combined = { text, voice: voices.voxa.own, voice_id: 'voxa-v2-anna-2' };
    const reply = await voxa({ input: combined });
    expect([reply.status, await reply.text()]).toEqual([
      400,
      expect.stringContaining('input.voice_id: \\"voxa-v2-anna-2\\" belongs to another provider'),
    ]);
  });

  test('words with another meaning are forwarded, even if a user has a voice with that id', async () => {
    const name = 'surprised';
    const model = voices.beta.model;
    await saveVoice(target.gateway, {
      id: name,
      userId: otherUser.userId,
      model,
      channel: 'first',
      service: 'voice_clone',
    });
    const sentence = `${voices.voxa.foreign} says hi`;
    for (const body of [
      {
        model: 'voxa-v2',
        input: { text: voices.voxa.foreign, instruction: sentence, voice: 'v1', style: name },
      },
      {
        model: 'voxa-v2',
        input: { text: sentence, voice: 'v1', hot_fix: { replace: [{ a: voices.voxa.foreign }] } },
      },
    ])
      expect((await native(synthesizer, body)).status).toBe(200);
    const input = { text, voice_setting: { voice_id: 'v1', emotion: name } };
    expect((await native(multimodal, { model, input })).status).toBe(200);
    const unknownOption = { text, voice_setting: { voice_id: 'v1' }, style: name };
    expect((await native(multimodal, { model, input: unknownOption })).status).toBe(400);
  });

  test('surrounding whitespace does not hide a voice', async () => {
    for (const voice of [
      ` ${voices.voxa.foreign}`,
      `${voices.voxa.deleted}\n`,
      voices.voxa.deleted.toUpperCase(),
    ]) {
      expect((await voxa({ input: { text, voice } })).status).toBe(400);
      expect((await voxa({ parameters: { style: voice } })).status).toBe(400);
    }
    expect(seen()).toEqual([]);
  });

  test('a body with more than 500 unknown values is refused', async () => {
    const many = await voxa({
      parameters: { odd: Array.from({ length: 501 }, (_, index) => `value ${index}`) },
    });
    expect([many.status, await many.text()]).toEqual([400, expect.stringContaining('parameters.odd.500: ')]);
    const few = {
      odd: Array.from({ length: 499 }, (_, index) => `value ${index}`),
      long: 'x'.repeat(300),
      none: '',
    };
    expect((await voxa({ parameters: few })).status).toBe(200);
  });
});

test('the example of the contract causes no store query except for its voice', () => {
  const input = { text, format: 'mp3', language_hints: ['en'], hot_fix: { pronunciation: [{ a: 'b' }] } };
  expect(
    voicesIn('synthesizer', { model: 'voxa-v2', input: { ...input, voice: 'v1' } }, ['input.voice']),
  ).toEqual([]);
});
