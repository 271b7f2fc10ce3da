import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { logRows, makeKey, post } from './ledger.ts';

const speech = '/v1/audio/speech';
const synthesizer = '/api/v1/services/audio/tts/SpeechSynthesizer';
const messages = '/v1/messages';
const customization = '/api/v1/services/audio/tts/customization';
const input = 'Good morning from one key.';
const sentence = { model: 'voxa-v3-flash', input: { text: input, voice: 'voxanna' } };
const message = { model: 'iota-chat-1', max_tokens: 20, messages: [{ role: 'user', content: 'Hello.' }] };

const request = (target: TestGateway, path: string, body: object) =>
  post(target.url, target.key, path, body, { headers: { 'anthropic-version': '2023-06-01' } });
const chargeOf = (response: Response) => response.headers.get('x-unigate-cost');

/** Returns the log entry of a call after its response has ended. */
async function entryOf(target: TestGateway, response: Response) {
  await response.arrayBuffer();
  const id = response.headers.get('x-request-id');
  const [entry] = (await logRows(target)).filter(({ request_id }) => request_id === id);
  if (entry === undefined) throw new Error(`the log has no entry of ${id}`);
  return entry;
}

describe.each(engines)('x-unigate-cost on %s', (engine) => {
  let target: TestGateway;

  beforeAll(async () => {
    target = await startTestGateway({ prices: { '*': 3 } }, engine);
  });
  afterAll(() => target.close());

  test.each([
    ['synthesizeSpeech', synthesizer, sentence],
    [
      'generateMultimodalSpeech',
      '/api/v1/services/aigc/multimodal-generation/generation',
      { model: 'alpha3-tts-flash', input: { text: input, voice: 'Aria' } },
    ],
    ['createSpeech', speech, { model: sentence.model, input, voice: 'voxanna' }],
    ['createEmbedding', '/v1/embeddings', { model: 'theta-embedding-1', input }],
    ['createMessage', messages, message],
    [
      'customizeVoice',
      customization,
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
    ['createVerificationSession', '/api/resource-channel/vendorx/visual-validate/sessions', {}],
  ])('%s states the quota of its log entry', async (operation, path, body) => {
    const response = await request(target, path, body);
    expect(response.status).toBe(200);
    const entry = await entryOf(target, response);
    expect(entry.operation).toBe(operation);
    expect(entry.quota).toBeGreaterThan(0);
    expect(chargeOf(response)).toBe(String(entry.quota));
  });

  test.each([
    ['events of a message', messages, { ...message, stream: true }],
    ['audio of a stream', speech, { model: sentence.model, input, voice: 'voxanna', stream: true }],
  ])('%s are charged without the header', async (_, path, body) => {
    const response = await request(target, path, body);
    expect(response.status).toBe(200);
    expect(chargeOf(response)).toBeNull();
    expect((await entryOf(target, response)).quota).toBeGreaterThan(0);
  });

  test('events of a model without an HTTP route end with the charge', async () => {
    const body = { model: 'voxa-v1', input, voice: 'voxanna', stream: true, stream_format: 'sse' };
    const response = await request(target, speech, body);
    const events = (await response.text())
      .split('\n')
      .flatMap((line) => line.match(/^data:(.*)$/)?.[1] ?? []);
    const costs = events.map((event) => (JSON.parse(event) as { usage: { cost?: number } }).usage.cost);
    const id = response.headers.get('x-request-id');
    const entry = (await logRows(target)).find(({ request_id }) => request_id === id);
    expect(entry?.quota).toBeGreaterThan(0);
    expect(costs.at(-1)).toBe(entry?.quota);
    expect(costs.slice(0, -1).every((cost) => cost === undefined)).toBe(true);
  });

  test('an action without a call of a provider has no charge', async () => {
    const list = { model: 'voice-enrollment', input: { action: 'list_voice' } };
    const response = await request(target, customization, list);
    expect([response.status, chargeOf(response)]).toEqual([200, null]);
  });

  describe('with answers of a provider', () => {
    let upstream: RecordingUpstream;
    let direct: TestGateway;
    let answer: { status: number; body: object };

    beforeAll(async () => {
      upstream = await startUpstream((_, response) => {
        response.writeHead(answer.status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(answer.body));
      });
      const channels = [channelTo(upstream.url)];
      direct = await startTestGateway({ sandbox: false, channels, prices: { '*': 3 } }, engine);
    });
    afterAll(async () => {
      await direct.close();
      await upstream.close();
    });
    const speak = (key: string) => post(direct.url, key, synthesizer, sentence);
    const audio = { audio: { data: 'AAAA' } };

    test('createSpeech states the quota of its log entry if the provider returns the audio itself', async () => {
      answer = { status: 200, body: { output: audio, usage: { characters: 40 } } };
      const body = { model: sentence.model, input, voice: 'v1', response_format: 'pcm' };
      const response = await request(direct, speech, body);
      expect((await entryOf(direct, response)).quota).toBe(120);
      expect(chargeOf(response)).toBe('120');
    });

    test('a call beyond the balance states the charge without its debt', async () => {
      answer = { status: 200, body: { output: audio, usage: { characters: 40 } } };
      const { key } = await makeKey(direct, { quota: 100 });
      const response = await speak(key);
      expect(await entryOf(direct, response)).toMatchObject({ quota: 100, debt: 20 });
      expect(chargeOf(response)).toBe('100');
    });

    test('a call of 0 units states 0', async () => {
      answer = { status: 200, body: { output: audio, usage: { characters: 0 } } };
      const response = await speak(direct.key);
      expect((await entryOf(direct, response)).quota).toBe(0);
      expect(chargeOf(response)).toBe('0');
    });

    test.each([
      ['a rejection', 400, { code: 'InvalidParameter', message: 'The text is invalid.' }],
      ['a failure of the provider', 500, {}],
      ['an answer without audio', 200, { output: {}, usage: { characters: 5 } }],
    ])('%s is refunded without the header', async (_, status, body) => {
      answer = { status, body };
      const response = await speak(direct.key);
      expect(response.ok).toBe(false);
      expect(chargeOf(response)).toBeNull();
      expect((await entryOf(direct, response)).quota).toBe(0);
    });
  });
});
