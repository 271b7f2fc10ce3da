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

/** What a provider calls voices, of whom, and for which model. */
const voices = {
  voxa: { model: 'voxa-v2', mine: 'voxa-v2-anna-1', theirs: 'voxa-v2-bob-1', gone: 'voxa-v2-gone-1' },
  alpha: {
    model: 'alpha3-tts-flash',
    mine: 'alpha-tts-vc-anna-voice-20260101-aaaa',
    theirs: 'alpha-tts-vc-bob-voice-20260101-bbbb',
    gone: 'alpha-tts-vd-gone-voice-20260101-cccc',
  },
  beta: { model: 'beta/speech-02-hd', mine: 'annas-own', theirs: 'bobs-own', gone: 'voxa-v2-gone-1' },
};
type Kind = keyof typeof voices;

interface Route {
  name: string;
  kind: Kind;
  path: string;
  body: object;
  /** Where the places of the native body stand in this one. */
  prefix: string;
  places: readonly string[];
  clones?: boolean;
}

const routes: Route[] = [
  {
    name: 'the synthesizer',
    kind: 'voxa',
    path: synthesizer,
    body: { model: 'voxa-v2', input: { text, voice: 'v1' } },
    prefix: '',
    places: voiceFields.synthesizer,
  },
  {
    name: 'the multimodal route, an alpha model',
    kind: 'alpha',
    path: multimodal,
    body: { model: 'alpha3-tts-flash', input: { text, voice: 'v1' } },
    prefix: '',
    places: voiceFields.multimodal,
  },
  {
    name: 'the multimodal route, a beta model',
    kind: 'beta',
    path: multimodal,
    body: { model: 'beta/speech-02-hd', input: { text, voice_setting: { voice_id: 'v1' } } },
    prefix: '',
    places: voiceFields.multimodal,
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
    places: voiceFields.multimodal.filter((place) => place !== 'input.voice_id'),
    clones: true,
  },
  {
    name: 'the standard route, a voxa model',
    kind: 'voxa',
    path: '/v1/audio/speech',
    body: { model: 'voxa-v2', input: text, voice: 'v1' },
    prefix: 'extra_body.',
    // The standard field is sent in the place of this one.
    places: voiceFields.synthesizer.filter((place) => place !== 'input.voice'),
  },
  {
    name: 'the standard route, an alpha model',
    kind: 'alpha',
    path: '/v1/audio/speech',
    body: { model: 'alpha3-tts-flash', input: text, voice: 'v1' },
    prefix: 'extra_body.',
    // What alpha models do not have is refused as such.
    places: ['input.voice_id', 'parameters.voice', 'parameters.voice_id'],
  },
  {
    name: 'the standard route, a beta model',
    kind: 'beta',
    path: '/v1/audio/speech',
    body: { model: 'beta/speech-02-hd', input: text, voice: 'v1' },
    prefix: 'extra_body.',
    places: voiceFields.multimodal.filter((place) => place !== 'input.voice_setting.voice_id'),
  },
];

/** Places that no protocol knows, where a provider might look all the same. */
const odd = [
  'input.Voice-Id',
  'input.voices[]',
  'input.speaker.name',
  'input.deep.deeper[].voice_id',
  'input.clone_prompt.prompt_audio',
  'parameters.style',
  'extra.anything',
];

/** The standard route takes no more than input and parameters. */
const placesOf = ({ prefix, places }: Route) =>
  [...places, ...odd].filter((place) => prefix === '' || !place.startsWith('extra.'));

describe.each(engines)('on %s', (engine) => {
  let first: RecordingUpstream;
  let second: RecordingUpstream;
  let target: TestGateway;
  let stranger: Awaited<ReturnType<typeof createOtherUser>>;

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
    // Neither lists its voices, so whatever nobody is known to own goes to the provider.
    const channels = [
      channelTo(first.url, { name: 'first', priority: 2 }),
      channelTo(second.url, { name: 'second' }),
    ];
    target = await startTestGateway({ sandbox: false, channels }, engine);
    stranger = await createOtherUser(target.gateway);
    for (const [kind, { model, mine, theirs }] of Object.entries(voices)) {
      const service = kind === 'beta' ? 'voice_clone' : 'voice-enrollment';
      await saveVoice(target.gateway, { id: mine, userId: 1, model, channel: 'second', service });
      await saveVoice(target.gateway, {
        id: theirs,
        userId: stranger.userId,
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

  const ask = async ({ path, body, prefix }: Route, place: string, voice: unknown) => {
    const reply = await post(
      target.url,
      target.key,
      path,
      withFieldAt(body, prefix + place, voice, { weight: 1 }),
    );
    const words = await reply.text();
    const { status } = reply;
    const told = status === 200 ? undefined : (JSON.parse(words) as { error: { message: string } });
    return { place, status, message: told?.error.message };
  };
  const seen = () => [...first.seen, ...second.seen];

  test.each(routes)("another user's voice is refused in every place: $name", async (route) => {
    const { theirs, gone } = voices[route.kind];
    const before = (await ledgerRows(target)).length;
    for (const place of placesOf(route)) {
      const refused = await ask(route, place, theirs);
      const field = `${route.prefix}${place}`.replaceAll('[]', '.0');
      expect(refused).toMatchObject({
        status: 400,
        message: expect.stringContaining(`${field}: "${theirs}" is not a voice of`),
      });
      // One that nobody has any more is refused in the same words.
      const { message } = await ask(route, place, gone);
      expect([place, message?.replace(gone, theirs)]).toEqual([place, refused.message]);
    }
    expect(seen()).toEqual([]);
    expect(await ledgerRows(target)).toHaveLength(before);
  });

  test.each(routes.filter(({ clones }) => !clones))(
    'the own voice is taken in every place, and decides on the channel: $name',
    async (route) => {
      for (const place of placesOf(route)) {
        const { status, message } = await ask(route, place, voices[route.kind].mine);
        expect([place, status, message]).toEqual([place, 200, undefined]);
        const named = route.places.includes(place) || /voice|speaker/i.test(place);
        expect([place, seen().length, second.seen.length]).toEqual([place, 1, named ? 1 : 0]);
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
  ])("%s takes another user's voice nowhere", async (action, fields) => {
    const { mine, theirs, gone } = voices.voxa;
    const managed = /query|update|delete/.test(action);
    const body = { model: 'voice-enrollment', input: { action, voice_id: managed ? mine : '', ...fields } };
    const elsewhere = voiceFields.customization.filter((place) => place !== 'input.voice_id');
    for (const place of [...elsewhere, 'input.ids[]', 'parameters.deep.voice_id', 'extra.anything']) {
      for (const voice of [theirs, gone]) {
        const reply = await post(target.url, target.key, customization, withFieldAt(body, place, voice));
        const field = place.replace('[]', '.0');
        expect([place, reply.status, await reply.json()]).toEqual([
          place,
          400,
          { error: expect.objectContaining({ message: `${field}: there is no voice "${voice}".` }) },
        ]);
      }
    }
    // The service goes by this one, whatever else there is.
    const others = { ...body, input: { ...body.input, voice: mine, voice_id: theirs } };
    const reply = await post(target.url, target.key, customization, others);
    expect(reply.status).toBe(managed ? 404 : action === 'list_voice' ? 200 : 400);
    expect(seen()).toEqual([]);
  });

  test('voices that live apart cannot speak together', async () => {
    await saveVoice(target.gateway, { id: 'voxa-v2-anna-2', userId: 1, model: 'voxa-v2', channel: 'first' });
    const apart = { text, voice: voices.voxa.mine, voice_id: 'voxa-v2-anna-2' };
    const reply = await voxa({ input: apart });
    expect([reply.status, await reply.text()]).toEqual([
      400,
      expect.stringContaining('input.voice_id: \\"voxa-v2-anna-2\\" belongs to another provider'),
    ]);
  });

  test('words that mean something else go to the provider, even if somebody calls a voice so', async () => {
    const name = 'surprised';
    const model = voices.beta.model;
    await saveVoice(target.gateway, {
      id: name,
      userId: stranger.userId,
      model,
      channel: 'first',
      service: 'voice_clone',
    });
    const said = `${voices.voxa.theirs} says hi`;
    for (const body of [
      { model: 'voxa-v2', input: { text: voices.voxa.theirs, instruction: said, voice: 'v1', style: name } },
      {
        model: 'voxa-v2',
        input: { text: said, voice: 'v1', hot_fix: { replace: [{ a: voices.voxa.theirs }] } },
      },
    ])
      expect((await native(synthesizer, body)).status).toBe(200);
    const input = { text, voice_setting: { voice_id: 'v1', emotion: name } };
    expect((await native(multimodal, { model, input })).status).toBe(200);
    const odd = { text, voice_setting: { voice_id: 'v1' }, style: name };
    expect((await native(multimodal, { model, input: odd })).status).toBe(400);
  });

  test('blanks around it do not hide a voice', async () => {
    for (const voice of [` ${voices.voxa.theirs}`, `${voices.voxa.gone}\n`, voices.voxa.gone.toUpperCase()]) {
      expect((await voxa({ input: { text, voice } })).status).toBe(400);
      expect((await voxa({ parameters: { style: voice } })).status).toBe(400);
    }
    expect(seen()).toEqual([]);
  });

  test('a body of nothing but unknown values is refused', async () => {
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

test('what the contract shows as an example asks the store for no more than its voice', () => {
  const input = { text, format: 'mp3', language_hints: ['en'], hot_fix: { pronunciation: [{ a: 'b' }] } };
  expect(
    voicesIn('synthesizer', { model: 'voxa-v2', input: { ...input, voice: 'v1' } }, ['input.voice']),
  ).toEqual([]);
});
