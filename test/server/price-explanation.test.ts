import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { components } from '../../generated/http.ts';
import { Channel } from '../../server/channels/channel.ts';
import { pricedIds } from '../../server/operations/priced-operations.ts';
import type { PriceRule } from '../../server/settings/price-rules.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { logRows, makeKey, post } from './ledger.ts';

type Explanation = components['schemas']['PriceExplanation'];
type Usage = components['schemas']['ExplainedUsage'];
type LogRow = Awaited<ReturnType<typeof logRows>>[number];

const seedance = 'epsilon-delta-2-0-260128';
const gamma = 'gamma3.0-video';
const text = 'Good morning from one key.';
const rules = (...list: PriceRule[]) => list;
const prices = {
  '*': 1.3,
  'alpha3-tts-flash': rules(
    { when: { voice: 'system' }, per: { characters: 2.7 } },
    { per: { characters: 9 } },
  ),
  'voxa-v3-flash': 3,
  'voice-enrollment': rules({ when: { voice: 'designed' }, per: { actions: 31 } }, { per: { actions: 7 } }),
  [seedance]: rules(
    { when: { resolution: '1080p' }, per: { completion_tokens: 5.1 }, minimum: 1_000 },
    { per: { completion_tokens: 3.3 } },
  ),
  [gamma]: rules({ when: { resolution: '480p' }, per: { seconds: 100.5 } }, { per: { seconds: 300 } }),
  sigma_music: rules(
    { when: { task: 'gen_stem' }, per: { tracks: 9 } },
    { per: { tracks: 50 }, minimum: 120 },
  ),
  imgjob_image: rules({ when: { action: 'imagine' }, per: { actions: 80 } }, { per: { actions: 20 } }),
  'iota-chat-1': rules({ per: { input_tokens: 3, cached_tokens: 0.3, output_tokens: 15 } }),
};
const groups = {
  default: { models: ['*'], ratio: 1 },
  trial: { models: ['*'], ratio: 1.5 },
  speech: { models: ['alpha3-*'], ratio: 1 },
};
const display = { quotaPerUnit: 500, currency: 'EUR' };
const message = { model: 'iota-chat-1', max_tokens: 20, messages: [{ role: 'user', content: 'Hello.' }] };
const song = { mv: 'chirp-hawk', prompt: 'A song about the sea' };

/** Requests by operation: the path and the body. */
const requests: readonly (readonly [operation: string, path: string, body: Record<string, unknown>])[] = [
  ['createSpeech', '/v1/audio/speech', { model: 'alpha3-tts-flash', input: text, voice: 'Aria' }],
  ['createSpeech', '/v1/audio/speech', { model: 'voxa-v1', input: text, voice: 'voxanna', stream: true }],
  [
    'generateMultimodalSpeech',
    '/api/v1/services/aigc/multimodal-generation/generation',
    { model: 'alpha-tts', input: { text, voice: 'Aria' } },
  ],
  [
    'synthesizeSpeech',
    '/api/v1/services/audio/tts/SpeechSynthesizer',
    { model: 'voxa-v3-flash', input: { text, voice: 'voxanna' } },
  ],
  [
    'customizeVoice',
    '/api/v1/services/audio/tts/customization',
    {
      model: 'voice-enrollment',
      input: {
        action: 'create_voice',
        target_model: 'voxa-v3.5-plus',
        prefix: 'guide',
        voice_prompt: 'A calm low voice.',
        preview_text: 'Welcome aboard.',
      },
      parameters: { sample_rate: 24_000, response_format: 'wav' },
    },
  ],
  ['createVideo', '/v1/videos', { model: gamma, prompt: 'A cat.', seconds: '3', size: '480p' }],
  ['createGenericVideo', '/v1/video/generations', { model: seedance, prompt: 'A cat.', duration: 4 }],
  [
    'createNativeVideo',
    '/api/v1/services/aigc/video-generation/video-synthesis',
    { model: gamma, input: { prompt: 'A cat.' }, parameters: { duration: 3 } },
  ],
  [
    'createOfficialVideo',
    '/api/v3/contents/generations/tasks',
    { model: seedance, content: [{ type: 'text', text: 'A cat.' }], duration: 4, resolution: '1080p' },
  ],
  [
    'createModel3d',
    '/api/v1/services/aigc/video-generation/3d-generation',
    { model: 'theta-3d', input: { prompt: 'A teapot.' } },
  ],
  ['submitMusic', '/sigma/submit/music', song],
  ['createMusic', '/sigma/v1/music', { input: song }],
  ['submitLyrics', '/sigma/submit/lyrics', { prompt: 'The sea' }],
  ['submitImagine', '/imgjob/submit/imagine', { prompt: 'A cat.' }],
  ['createMessage', '/v1/messages', message],
  ['createMessage', '/v1/messages', { ...message, stream: true }],
  ['createEmbedding', '/v1/embeddings', { model: 'theta-embedding-1', input: text }],
  ['createVerificationSession', '/api/resource-channel/vendorx/visual-validate/sessions', {}],
];

async function start(): Promise<TestGateway> {
  const target = await startTestGateway({ prices, groups, display });
  const costs = { '*': 0.7, [seedance]: rules({ per: { completion_tokens: 2 } }) };
  const channels = target.gateway.channels.all.map(({ name }) => ({ name, costs }));
  target.gateway.vendorCosts.apply(channels);
  return target;
}

const explain = (target: TestGateway, body: object) =>
  post(target.url, target.key, '/api/admin/prices/explain', body);

async function explained(target: TestGateway, body: object): Promise<Explanation> {
  const response = await explain(target, body);
  const answer = (await response.json()) as { data: Explanation; message: string };
  expect(response.status, answer.message).toBe(200);
  return answer.data;
}

/** Returns the log entry of a request after its end. */
function untilCharged(target: TestGateway, key: number): Promise<LogRow> {
  return vi.waitFor(async () => {
    await target.gateway.tasks.runDue();
    const [entry] = (await logRows(target)).filter(({ token_id }) => token_id === key);
    if (entry === undefined) throw new Error('the request has not ended');
    return entry;
  });
}

/** Returns the usage of a log entry as the request of an explanation. */
function usageOf({ unit, units, prompt_tokens, completion_tokens }: LogRow): Usage {
  if (unit === 'tokens') return { units, input_tokens: prompt_tokens, output_tokens: completion_tokens };
  return { units, ...(unit === 'seconds' && { completion_tokens }) };
}

let target: TestGateway;

beforeAll(async () => {
  target = await start();
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => target.close());

describe('explainPrice', () => {
  test.each(requests)(
    'equals the reservation, the charge and the cost of %s at %s',
    async (operation, path, body) => {
      const { key, id } = await makeKey(target, { quota: 1e9, group: 'trial' });
      const response = await post(target.url, key, path, body, {
        headers: { 'compat-version': '2023-06-01' },
      });
      expect(response.status, await response.text()).toBe(200);
      const entry = await untilCharged(target, id);
      expect(entry.state).toBe('completed');
      const price = await explained(target, { operation: path, body, token_id: id, usage: usageOf(entry) });
      expect(price).toMatchObject({ operation, model: entry.model_name, unit: entry.unit, group: 'trial' });
      expect(price.reservation.quota).toBe(entry.reserved);
      expect(price.settlement?.quota).toBe(entry.quota);
      expect(price.settlement?.price_rule ?? null).toEqual(
        entry.price_rule === null ? null : JSON.parse(entry.price_rule),
      );
      expect(price.settlement?.explanation.at(-1)).toContain(String(entry.quota));
      const cost = price.costs.find(({ channel }) => channel === entry.channel);
      expect(cost?.settlement?.quota).toBe(entry.cost);
      expect(cost?.reservation?.quota).toBeGreaterThanOrEqual(entry.cost ?? Number.NaN);
    },
  );

  test('knows every operation that a request above calls, and the actions of images', () => {
    expect(new Set([...requests.map(([operation]) => operation), 'submitImageAction'])).toEqual(
      new Set(pricedIds),
    );
  });

  test.each([
    ['createVideo', { model: gamma, body: { prompt: 'A cat.', seconds: '3' } }],
    ['createNativeVideo', { model: gamma, body: { input: { prompt: 'A cat.' } } }],
    ['createOfficialVideo', { model: seedance, body: { content: [{ type: 'text', text: 'A cat.' }] } }],
    ['createSpeech', { model: 'voxa-v3-flash', body: { input: text, voice: 'voxanna' } }],
    ['synthesizeSpeech', { model: 'voxa-v3-flash', body: { input: { text, voice: 'voxanna' } } }],
    ['generateMultimodalSpeech', { body: { model: 'alpha3-tts-flash', input: { text, voice: 'Aria' } } }],
    ['submitMusic', { model: 'sigma_music', body: song }],
    ['createMusic', { model: 'sigma_music', body: { input: song } }],
    ['submitLyrics', { model: 'sigma_lyrics', body: { prompt: 'The sea' } }],
    ['submitImagine', { model: 'imgjob_image', body: { prompt: 'A cat.' } }],
    [
      'submitImageAction',
      { model: 'imgjob_image', body: { taskId: 'none', customId: 'MJ::JOB::upsample::1::x' } },
    ],
    ['createGenericVideo', { operation: 'createGenericVideo', model: gamma, body: { prompt: 'A cat.' } }],
    ['submitMusic', { operation: '/sigma/v1/submit/music', body: song }],
  ])('finds %s by the model and the body, or by its name', async (operation, body) => {
    expect(await explained(target, body)).toMatchObject({ operation, settlement: null });
  });

  test('explains each step, with the currency of the user', async () => {
    const body = { prompt: 'A cat.', duration: 4, size: '1080p' };
    const price = await explained(target, {
      model: seedance,
      body,
      group: 'trial',
      usage: { completion_tokens: 100, seconds: 4 },
    });
    expect(price.fields).toEqual(expect.objectContaining({ resolution: '1080p', duration: 4 }));
    expect(price.display).toEqual({ quota_per_unit: 500, currency: 'EUR' });
    expect(price.settlement).toEqual({
      units: 4,
      unit_price: null,
      price_rule: {
        number: 1,
        when: { resolution: '1080p' },
        per: { completion_tokens: 5.1 },
        minimum: 1_000,
        figures: { completion_tokens: 100 },
      },
      group_ratio: 1.5,
      quota: 1_500,
      replaced: [],
      explanation: [
        'price rule 1: resolution "1080p"',
        '100 completion_tokens x 5.1 = 510',
        'minimum 1000',
        '1000 x 1.5 = 1500, rounded up',
      ],
    });
    expect(price.costs).toMatchObject([{ settlement: { quota: 200, group_ratio: 1 } }]);
  });

  test('charges the upper bound of figures that are absent or not plausible', async () => {
    const body = { model: seedance, prompt: 'A cat.', duration: 4 };
    const { reservation, settlement } = await explained(target, { body, usage: { seconds: 4 } });
    expect(settlement?.quota).toBe(reservation.quota);
    const wrong = await explained(target, { body, usage: { completion_tokens: 9e15 } });
    expect(wrong.settlement).toMatchObject({ quota: reservation.quota, replaced: ['outputTokens'] });
    const speech = { model: 'voxa-v3-flash', input: text, voice: 'voxanna' };
    const huge = await explained(target, { body: speech, usage: { characters: 1e9 } });
    expect(huge.settlement).toMatchObject({ quota: huge.reservation.quota, replaced: ['units'] });
  });

  test('reserves, logs and sends nothing', async () => {
    const before = await logRows(target);
    const sent = vi.spyOn(Channel.prototype, 'request');
    const tasks = () => target.gateway.store.read.selectFrom('tasks').selectAll().execute();
    const tasksBefore = await tasks();
    for (const [, operation, body] of requests) await explained(target, { operation, body });
    expect(await logRows(target)).toEqual(before);
    expect(target.gateway.callQuota.reservations).toEqual([]);
    expect(await tasks()).toEqual(tasksBefore);
    expect(sent).not.toHaveBeenCalled();
  });

  test.each([
    [
      'a body that its operation refuses',
      400,
      'body.seconds: ',
      { model: gamma, body: { prompt: 'A', seconds: '99' } },
    ],
    [
      'a text that its model refuses',
      400,
      'body.input: ',
      { body: { model: 'alpha3-tts-flash', input: 'a'.repeat(601), voice: 'Aria' } },
    ],
    [
      'a voice that does not exist',
      400,
      'body.voice: ',
      { body: { model: 'alpha3-tts-flash', input: text, voice: 'Nobody' } },
    ],
    ['an unknown model', 404, 'model: "gpt-9" does not exist.', { model: 'gpt-9', body: { input: text } }],
    [
      'an unknown model of an operation',
      404,
      'model: "gpt-9" does not exist.',
      { operation: 'createMessage', body: { ...message, model: 'gpt-9' } },
    ],
    [
      'a model of another operation',
      400,
      'model: gamma3.0-video is not served on this route',
      { operation: 'createSpeech', body: { model: gamma, input: text, voice: 'Aria' } },
    ],
    [
      'a model of sockets',
      400,
      'model: "alpha3-tts-flash-realtime" is served on sockets only',
      { body: { model: 'alpha3-tts-flash-realtime', input: text } },
    ],
    ['no model', 400, 'model: is required', { body: { prompt: 'A cat.' } }],
    [
      'another model than the fixed one',
      400,
      'model: must be sigma_music',
      { operation: 'submitMusic', model: gamma, body: song },
    ],
    [
      'an unknown operation',
      400,
      'operation: must be one of createSpeech, ',
      { operation: 'listModels', body: {} },
    ],
    [
      'a path of no priced operation',
      400,
      'operation: must be one of createSpeech, ',
      { operation: '/v1/models', body: {} },
    ],
    [
      'a name of every object',
      400,
      'operation: must be one of createSpeech, ',
      { operation: 'constructor', body: {} },
    ],
    [
      'a list of voices',
      400,
      'body.input.action: ',
      { body: { model: 'voice-enrollment', input: { action: 'list_voice' } } },
    ],
    [
      'an unknown group',
      400,
      'group: there is no group "constructor".',
      { group: 'constructor', body: message },
    ],
    ['an unknown user', 404, 'user_id: there is no such user.', { user_id: 9e15, body: message }],
    ['an unknown key', 404, 'token_id: there is no such key.', { token_id: 9e15, body: message }],
    [
      'a key of another user',
      404,
      'token_id: the user has no such key.',
      { token_id: 1, user_id: 2, body: message },
    ],
    [
      'a model that the group may not use',
      400,
      'model: this key may not use iota-chat-1.',
      { group: 'speech', body: message },
    ],
    [
      'a figure that the model does not have',
      400,
      'usage.seconds: ',
      { body: message, usage: { seconds: 1 } },
    ],
    ['a usage without figures', 400, 'usage: ', { body: message, usage: {} }],
    ['a negative usage', 400, 'usage.input_tokens: ', { body: message, usage: { input_tokens: -1 } }],
    ['a body that is no object', 400, 'body: must be object', { body: [] }],
    ['an unknown field', 400, 'tokens: ', { body: message, tokens: 1 }],
    [
      'a prototype in the body',
      400,
      'body',
      { model: gamma, body: JSON.parse('{"__proto__":{"prompt":"A"},"seconds":"3"}') as object },
    ],
  ])('refuses %s', async (_, status, start, body) => {
    const response = await explain(target, body);
    const answer = (await response.json()) as { message: string };
    expect([response.status, answer.message.slice(0, start.length)]).toEqual([status, start]);
  });

  test('refuses a model without a price, and a price of 2^53 or more', async () => {
    const { prices: list } = target.gateway;
    const settings = { groups, revision: 'other' };
    try {
      list.apply({ ...settings, prices: { 'voxa-*': 1 } });
      const unpriced = await explain(target, { body: message });
      expect([unpriced.status, ((await unpriced.json()) as { message: string }).message]).toEqual([
        404,
        'model: "iota-chat-1" does not exist.',
      ]);
      list.apply({ ...settings, prices: { '*': 2 ** 52 } });
      const huge = await explain(target, { body: message });
      expect([huge.status, ((await huge.json()) as { message: string }).message]).toEqual([
        400,
        'body: the price must be below 2^53 quota.',
      ]);
    } finally {
      list.apply({ groups, prices, revision: 'first' });
    }
  });

  test('looks up the voices of the sender, not of the caller', async () => {
    const other = await makeKey(target, { quota: 1e6 });
    const create = requests.find(([operation]) => operation === 'customizeVoice');
    const made = await post(target.url, other.key, create?.[1] ?? '', create?.[2]);
    const { output } = (await made.json()) as { output: { voice_id: string } };
    const body = { model: 'voxa-v3.5-plus', input: text, voice: output.voice_id };
    const user = await post(target.url, target.key, '/api/admin/users', { name: 'Ben' });
    const { data } = (await user.json()) as { data: { id: number } };
    expect((await explain(target, { body, token_id: other.id })).status).toBe(200);
    expect((await explain(target, { body, user_id: data.id })).status).toBe(400);
  });

  test('requires the scope admin', async () => {
    const { key } = await makeKey(target, { quota: 1 });
    const response = await post(target.url, key, '/api/admin/prices/explain', { body: message });
    expect(response.status).toBe(403);
  });
});
