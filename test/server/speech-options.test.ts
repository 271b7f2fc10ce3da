import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { ledgerRows, post } from './ledger.ts';

let upstream: RecordingUpstream;
let target: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream(({ path }, response) => {
    if (path === '/audio') return void response.end(Buffer.alloc(2_000, 1));
    const audio = { data: '', url: `${upstream.url}/audio`, id: 'a', expires_at: 1 };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ request_id: 'r', output: { finish_reason: 'stop', audio }, usage: {} }));
  });
  target = await startTestGateway({ sandbox: false, channels: [channelTo(upstream.url)] });
});
beforeEach(() => {
  upstream.seen.length = 0;
});
afterAll(async () => {
  await target.close();
  await upstream.close();
});

interface Speech {
  model: string;
  input?: Record<string, unknown>;
  parameters?: Record<string, unknown>;
  more?: Record<string, unknown>;
}

const text = 'Good morning.';
const speak = ({ model, input, parameters, more }: Speech) =>
  post(target.url, target.key, '/v1/audio/speech', {
    model,
    input: text,
    voice: 'v1',
    extra_body: { input, parameters },
    ...more,
  });

const sent = () => {
  const request = upstream.seen.find(({ method }) => method === 'POST');
  return request?.body as { model: string; input: Record<string, unknown> } | undefined;
};

const errorOf = async (reply: Response) => {
  const { error } = (await reply.json()) as { error: { message: string } };
  return `${reply.status} ${error.message}`;
};

describe('extra_body replaces neither model, text nor voice, so the reservation matches the request', () => {
  test.each([
    'alpha3-tts-flash',
    'alpha3-tts-instruct-flash',
    'alpha-tts',
    'voxa-v2',
    'alpha-audio-3.0-tts-flash',
  ])('with %s', async (model) => {
    const other = { model: 'other', text: 'x'.repeat(500), voice: 'other' };
    const reply = await speak({ model, input: { ...other, kept: 0, off: false }, parameters: other });
    expect(reply.status, await reply.text()).toBe(200);
    expect(sent()).toMatchObject({ model, input: { text, voice: 'v1', kept: 0, off: false } });
    const plain = await speak({ model });
    await plain.arrayBuffer();
    const [reservedWithExtra, reservedWithout] = (await ledgerRows(target))
      .slice(-2)
      .map(({ reserved }) => reserved);
    expect(reservedWithExtra).toBe(reservedWithout);
  });

  test('with a beta model, whose voice is in voice_setting', async () => {
    const input = { text: 'other', voice: 'other', voice_setting: { voice_id: 'other', pitch: 0 } };
    const reply = await speak({ model: 'beta/speech-02-hd', input });
    expect(reply.status, await reply.text()).toBe(200);
    expect(sent()?.input).toMatchObject({ text, voice_setting: { voice_id: 'v1', pitch: 0 } });
  });

  test('format, speed and instructions of the request take precedence', async () => {
    const more = { response_format: 'wav', speed: 1.5, instructions: 'calm' };
    const reply = await speak({
      model: 'voxa-v2',
      input: { format: 'pcm', rate: 0.5, instruction: 'loud' },
      more,
    });
    expect(reply.headers.get('content-type')).toBe('audio/wav');
    await reply.arrayBuffer();
    expect(sent()?.input).toMatchObject({ format: 'wav', rate: 1.5, instruction: 'calm' });
    const instructed = await speak({
      model: 'alpha3-tts-instruct-flash',
      input: { instructions: 'loud' },
      more: { instructions: 'calm' },
    });
    await instructed.arrayBuffer();
    expect(upstream.seen.find(({ path }) => path.includes('multimodal'))?.body).toMatchObject({
      input: { instructions: 'calm' },
    });
  });
});

describe('instructions in extra_body are checked like those of the request', () => {
  test.each([
    [{ instructions: 'calm' }, 'alpha3-tts-flash takes no instructions'],
    [{ instructions: 'calm', optimize_instructions: true }, 'alpha3-tts-flash takes no instructions'],
  ])('%j', async (input, problem) => {
    const error = await errorOf(await speak({ model: 'alpha3-tts-flash', input }));
    expect(error).toContain('400 extra_body.input.instructions: ');
    expect(error).toContain(problem);
    expect(upstream.seen).toEqual([]);
  });

  test('also under the field name of the model', async () => {
    const input = { instruction: 'calm '.repeat(2_000) };
    const error = await errorOf(await speak({ model: 'voxa-v2', input }));
    expect(error).toBe('400 extra_body.input.instruction: must have at most 1600 tokens.');
    const missing = await speak({
      model: 'alpha3-tts-instruct-flash',
      input: { optimize_instructions: true },
    });
    expect(await errorOf(missing)).toBe('400 extra_body.input.optimize_instructions: needs instructions.');
  });

  test('and can be optimized', async () => {
    const input = { instructions: 'calm', optimize_instructions: true };
    const reply = await speak({ model: 'alpha3-tts-instruct-flash', input });
    expect(reply.status, await reply.text()).toBe(200);
    expect(sent()?.input).toMatchObject(input);
  });
});

describe('an option that only other models have is refused, because it would have no effect', () => {
  test.each<[string, string, unknown]>([
    ['alpha3-tts-flash', 'sample_rate', 16_000],
    ['voxa-v2', 'language_type', 'English'],
    ['beta/speech-02-hd', 'rate', 1.5],
  ])('%s: %s %j', async (model, name, value) => {
    const error = await errorOf(await speak({ model, input: { [name]: value } }));
    expect(error).toContain(`400 extra_body.input.${name}: `);
    expect(error).toContain(model);
    expect(upstream.seen).toEqual([]);
  });

  test('options with their default value and unknown options are forwarded', async () => {
    const input = {
      sample_rate: 24_000,
      seed: 0,
      rate: 1,
      volume: 50,
      pitch: 1,
      enable_ssml: false,
      format: 'wav',
      language_type: 'English',
      bit_rate: null,
      brand_new: 5,
    };
    const reply = await speak({ model: 'alpha3-tts-flash', input });
    expect(reply.status, await reply.text()).toBe(200);
    expect(sent()?.input).toEqual({ ...input, text, voice: 'v1' });
  });
});
