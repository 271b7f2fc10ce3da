import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { engines } from '../store/engines.ts';
import { disableToken } from '../store/ledger.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { ledgerRows, logRows, makeKey, post, remainingQuota } from './ledger.ts';

const speech = '/v1/audio/speech';
const native = '/api/v1/services/audio/tts/SpeechSynthesizer';
const sentence = { model: 'voxa-v3-flash', input: { text: 'Good 早.', voice: 'v1' } };
// "Good 早." counts as 5 + 2 + 1 characters.
const characters = 8;

const event = (id: number, data: object) =>
  `id:${id}\nevent:result\n:HTTP_STATUS/200\ndata:${JSON.stringify(data)}\n\n`;
const audioEvent = (id: number, used?: number) =>
  event(id, {
    output: { finish_reason: 'null', audio: { data: 'AAAA' } },
    ...(used === undefined ? {} : { usage: { characters: used } }),
  });

let upstream: RecordingUpstream;
let target: TestGateway;
let respond: Parameters<typeof startUpstream>[0];

const speechResponse = (used: number) => ({
  request_id: 'r',
  output: {
    finish_reason: 'stop',
    audio: { data: '', url: `${upstream.url}/file.mp3`, id: 'a', expires_at: 1 },
  },
  usage: { characters: used },
});

const json = (status: number, body: unknown, headers: Record<string, string> = {}) => {
  respond = (request, response) => {
    if (request.path === '/file.mp3') {
      response.end(Buffer.alloc(5000, 1));
      return;
    }
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
};

const lastRow = async () => (await ledgerRows(target)).at(-1);

describe.each(engines)('on %s', (engine) => {
  beforeAll(async () => {
    upstream = await startUpstream((request, response) => respond(request, response));
    target = await startTestGateway(
      {
        sandbox: false,
        channels: [channelTo(upstream.url)],
        groups: {
          default: { models: ['*'], ratio: 1 },
          trial: { models: ['voxa-*'], ratio: 2.5 },
          none: { models: [], ratio: 1 },
        },
        prices: { '*': 1, 'voxa-v3-*': 3 },
      },
      engine,
    );
  });
  afterEach(() => {
    upstream.seen.length = 0;
    target.gateway.channels.named('recording')?.health.reset();
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
  });

  describe('a successful call', () => {
    test("is charged for the upstream's count times price and ratio, before the response ends", async () => {
      json(200, speechResponse(6));
      const { key, id } = await makeKey(target, { quota: 1000, group: 'trial' });
      const reply = await post(target.url, key, native, sentence);
      expect(await reply.json()).toEqual(speechResponse(6));
      expect(await remainingQuota(target, id)).toBe(1000 - 6 * 3 * 2.5);
      expect(await lastRow()).toEqual({
        state: 'settled',
        reserved: 8 * 3 * 2.5,
        charged: 45,
        unit: 'characters',
      });
      const log = (await logRows(target)).at(-1);
      expect(log).toMatchObject({
        status: 200,
        quota: 45,
        units: 6,
        channel: 'recording',
        operation: 'synthesizeSpeech',
      });
      expect(log?.request_id).toBe(reply.headers.get('x-request-id'));
    });

    test('uses the key of the account, and never that of the client', async () => {
      json(200, speechResponse(1));
      await post(target.url, target.key, native, sentence);
      expect(upstream.seen[0]?.headers.authorization).toBe('Bearer upstream-key');
      expect(JSON.stringify(upstream.seen)).not.toContain(target.key);
    });

    test('is charged on the standard route once its file is forwarded', async () => {
      json(200, speechResponse(10));
      const reply = await post(target.url, target.key, speech, {
        model: 'voxa-v2',
        input: 'Hello there.',
        voice: 'v1',
      });
      expect((await reply.arrayBuffer()).byteLength).toBe(5000);
      expect(await lastRow()).toMatchObject({ state: 'settled', charged: 10 });
    });

    test('without a usage report is charged as reserved', async () => {
      json(200, { ...speechResponse(0), usage: {} });
      await (await post(target.url, target.key, native, sentence)).text();
      expect(await lastRow()).toMatchObject({ state: 'settled', charged: characters * 3 });
    });

    test('of a token model is charged in input and output tokens', async () => {
      json(200, { ...speechResponse(0), usage: { input_tokens: 2, output_tokens: 50, characters: 0 } });
      const body = { model: 'alpha-tts', input: { text: 'Hello', voice: 'v1' } };
      await (
        await post(target.url, target.key, '/api/v1/services/aigc/multimodal-generation/generation', body)
      ).text();
      expect(await lastRow()).toMatchObject({ state: 'settled', charged: 52, unit: 'tokens' });
      expect((await logRows(target)).at(-1)).toMatchObject({ prompt_tokens: 2, completion_tokens: 50 });
    });

    test('with a stream is charged by the last cumulative count', async () => {
      respond = (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(audioEvent(1, 3));
        response.write(audioEvent(2, 7).slice(0, 40));
        response.write(audioEvent(2, 7).slice(40));
        response.end(
          event(3, { output: { finish_reason: 'stop', audio: { data: '' } }, usage: { characters: 8 } }),
        );
      };
      const reply = await post(target.url, target.key, native, sentence, {
        headers: { 'X-Native-SSE': 'enable' },
      });
      // Proxies must neither cache nor buffer events.
      expect(reply.headers.get('cache-control')).toBe('no-cache');
      expect(reply.headers.get('x-accel-buffering')).toBe('no');
      const text = await reply.text();
      expect(text.startsWith('id:1\nevent:result\n:HTTP_STATUS/200\ndata:{')).toBe(true);
      expect(await lastRow()).toMatchObject({ state: 'settled', charged: 24 });
      expect(upstream.seen[0]?.headers['x-native-sse']).toBe('enable');
    });
  });

  describe('a failed call costs nothing', () => {
    const expectRefunded = async (key: string) => {
      const before = (await ledgerRows(target)).length;
      const reply = await post(target.url, key, native, sentence);
      const text = await reply.text();
      const rows = await ledgerRows(target);
      expect(rows.slice(before).map(({ state }) => state)).toEqual(['refunded']);
      return { status: reply.status, text, headers: reply.headers };
    };

    test('a rejection of the provider is forwarded unchanged', async () => {
      json(400, '{"code":"InvalidParameter",  "message":"no","request_id":"x"}');
      const { key, id } = await makeKey(target, { quota: 100 });
      const { status, text } = await expectRefunded(key);
      expect([status, text]).toEqual([400, '{"code":"InvalidParameter",  "message":"no","request_id":"x"}']);
      expect(await remainingQuota(target, id)).toBe(100);
    });

    test.each([
      [{}, '1'],
      [{ 'retry-after': '7' }, '7'],
      [{ 'retry-after': '86400' }, '300'],
      [{ 'retry-after': '1e308' }, '1'],
    ])('throttling with %j gets a retry-after of %s', async (given, retryAfter) => {
      json(429, { code: 'Throttling.RateQuota', message: 'slow', request_id: 'x' }, given);
      const { status, headers } = await expectRefunded(target.key);
      expect([status, headers.get('retry-after')]).toEqual([429, retryAfter]);
    });

    test.each([
      [401, 502],
      [403, 502],
      [500, 502],
      [503, 503],
      [504, 504],
      [302, 502],
    ])('an upstream %i becomes %i, without details of the provider', async (given, expectedStatus) => {
      json(given, { code: 'InvalidApiKey', message: `secret ${upstream.url}`, request_id: 'x' });
      const { status, text } = await expectRefunded(target.key);
      expect(status).toBe(expectedStatus);
      expect(text).not.toContain('secret');
      const body = JSON.parse(text) as { error?: object };
      // A failure of the provider has the format of native errors.
      const isNative = given >= 500;
      expect(isNative ? body : body.error).toMatchObject({ request_id: expect.stringMatching(/^req_/) });
    });

    test.each([
      [500, 502, 'bad_response_status_code'],
      [503, 503, 'get_channel_failed'],
      [504, 504, 'upstream_timeout'],
    ])(
      'an upstream %i without an error code becomes %i %s in the native error format',
      async (given, status, code) => {
        json(given, '');
        const refusal = await expectRefunded(target.key);
        expect(refusal.status).toBe(status);
        expect(JSON.parse(refusal.text)).toEqual({
          code,
          message: expect.stringMatching(/^The provider .+\.$/),
          request_id: expect.stringMatching(/^req_/),
        });
      },
    );

    test('broken JSON is a 502', async () => {
      json(200, '{"output":');
      expect((await expectRefunded(target.key)).status).toBe(502);
    });

    test('a connection that closes before the response is a 502', async () => {
      respond = (_request, response) => void response.destroy();
      expect((await expectRefunded(target.key)).status).toBe(502);
    });

    test('a stream that breaks off also breaks off for the client', async () => {
      respond = (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(audioEvent(1, 3), () => response.destroy());
      };
      const reply = await post(target.url, target.key, native, sentence, {
        headers: { 'X-Native-SSE': 'enable' },
      });
      await expect(reply.text()).rejects.toThrow();
      await vi.waitFor(async () => expect(await lastRow()).toMatchObject({ state: 'refunded' }));
    });

    test('an error event after audio ends the stream without a charge', async () => {
      respond = (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(audioEvent(1));
        response.end(
          'id:2\nevent:error\n:HTTP_STATUS/500\ndata:{"code":"InternalError","message":"x","request_id":"y"}\n\n',
        );
      };
      const reply = await post(target.url, target.key, native, sentence, {
        headers: { 'X-Native-SSE': 'enable' },
      });
      expect(await reply.text()).toContain('event:error');
      expect(await lastRow()).toMatchObject({ state: 'refunded' });
    });

    test('beta failures with HTTP 200 are refunded, and forwarded on the native route', async () => {
      const failure = {
        request_id: 'r',
        output: { base_resp: { status_code: 1042, status_msg: 'odd text' }, data: null },
      };
      json(200, failure);
      const input = { text: 'x', voice_setting: { voice_id: 'v1' } };
      const path = '/api/v1/services/aigc/multimodal-generation/generation';
      const reply = await post(target.url, target.key, path, { model: 'beta/speech-02-hd', input });
      expect([reply.status, await reply.json()]).toEqual([200, failure]);
      expect(await lastRow()).toMatchObject({ state: 'refunded' });
      const standard = await post(target.url, target.key, speech, {
        model: 'beta/speech-02-hd',
        input: 'x',
        voice: 'v1',
      });
      expect(standard.status).toBe(400);
      expect(await standard.json()).toMatchObject({
        error: { code: 'InvalidParameter', message: 'odd text' },
      });
    });
  });

  describe('a client that disconnects in the middle', () => {
    const disconnectAfterAudio = async (used: number | undefined) => {
      let upstreamClosed = false;
      respond = (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(audioEvent(1, used));
        response.on('close', () => {
          upstreamClosed = true;
        });
      };
      const controller = new AbortController();
      const before = (await ledgerRows(target)).length;
      const reply = await post(target.url, target.key, native, sentence, {
        headers: { 'X-Native-SSE': 'enable' },
        signal: controller.signal,
      });
      const reader = reply.body?.getReader();
      await reader?.read();
      controller.abort();
      await vi.waitFor(async () => {
        expect(upstreamClosed).toBe(true);
        expect((await ledgerRows(target)).slice(before).map(({ state }) => state)).not.toContain('open');
      });
      return (await ledgerRows(target)).slice(before);
    };

    test('pays for the characters that the upstream has counted', async () => {
      expect(await disconnectAfterAudio(5)).toMatchObject([{ state: 'settled', charged: 15 }]);
      expect((await logRows(target)).at(-1)).toMatchObject({
        status: 499,
        error_code: 'client_closed_request',
      });
    });

    test('pays for the whole text if the upstream counts it at the start', async () => {
      expect(await disconnectAfterAudio(undefined)).toMatchObject([
        { state: 'settled', charged: characters * 3 },
      ]);
    });

    test.each<[string, object, typeof respond]>([
      [
        'file',
        {},
        (request, response) => {
          if (request.path === '/file.mp3') {
            response.write(Buffer.alloc(300_000, 1));
            return;
          }
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(JSON.stringify(speechResponse(5)));
        },
      ],
      [
        'stream',
        { stream: true },
        (_request, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write(audioEvent(1, 5));
        },
      ],
    ])('pays for a %s of the standard route', async (_, body, upstreamAnswer) => {
      respond = upstreamAnswer;
      const controller = new AbortController();
      const before = (await ledgerRows(target)).length;
      const request = { model: 'voxa-v3-flash', input: 'Good day.', voice: 'v1', ...body };
      const reply = await post(target.url, target.key, speech, request, { signal: controller.signal });
      expect(reply.status).toBe(200);
      await reply.body?.getReader().read();
      controller.abort();
      await vi.waitFor(async () =>
        expect((await ledgerRows(target)).slice(before)).toMatchObject([{ state: 'settled', charged: 15 }]),
      );
    });

    test('pays nothing before the first audio', async () => {
      respond = () => {};
      const controller = new AbortController();
      const before = (await ledgerRows(target)).length;
      const call = post(target.url, target.key, native, sentence, { signal: controller.signal });
      await vi.waitFor(() => expect(upstream.seen).toHaveLength(1));
      controller.abort();
      await expect(call).rejects.toThrow();
      await vi.waitFor(async () =>
        expect((await ledgerRows(target)).slice(before).map(({ state }) => state)).toEqual(['refunded']),
      );
    });
  });

  describe('a call fails without an upstream request or a reservation', () => {
    const expectRefused = async (key: string, path: string, body: unknown) => {
      json(200, speechResponse(1));
      const before = (await ledgerRows(target)).length;
      const reply = await post(target.url, key, path, body);
      const errorBody = (await reply.json()) as {
        error: { code: string; message: string; request_id: string };
      };
      expect(upstream.seen).toEqual([]);
      expect((await ledgerRows(target)).length).toBe(before);
      expect(errorBody.error.request_id).toBe(reply.headers.get('x-request-id'));
      return { status: reply.status, ...errorBody.error };
    };

    test('when the quota does not cover the call', async () => {
      const { key } = await makeKey(target, { quota: characters * 3 - 1 });
      expect(await expectRefused(key, native, sentence)).toMatchObject({
        status: 403,
        code: 'insufficient_user_quota',
      });
    });

    test('when the group lacks the model', async () => {
      const { key } = await makeKey(target, { quota: 1000, group: 'none' });
      expect(await expectRefused(key, native, sentence)).toMatchObject({
        status: 403,
        code: 'access_denied',
      });
    });

    test('when the key lacks the model', async () => {
      const { key } = await makeKey(target, { quota: 1000, modelLimits: ['alpha3-*'] });
      expect(await expectRefused(key, native, sentence)).toMatchObject({
        status: 403,
        code: 'access_denied',
      });
    });

    test('when the key is disabled or expired', async () => {
      const disabled = await makeKey(target, { quota: 1000 });
      await disableToken(target.gateway.store, disabled);
      expect(await expectRefused(disabled.key, native, sentence)).toMatchObject({
        status: 401,
        code: 'invalid_api_key',
      });
      const expired = await makeKey(target, { quota: 1000, expiredTime: 1_000_000_000 });
      expect(await expectRefused(expired.key, native, sentence)).toMatchObject({
        status: 401,
        code: 'invalid_api_key',
      });
    });

    test.each([
      ['an unknown model', { ...sentence, model: 'nope' }, 404, /model: "nope" does not exist/],
      ['a model of another route', { ...sentence, model: 'voxa-v1' }, 400, /model: must not be voxa-v1; use/],
      [
        'a blank text',
        { ...sentence, input: { text: '  ', voice: 'v1' } },
        400,
        /input.text: has nothing to speak/,
      ],
      [
        'a number for the text',
        { ...sentence, input: { text: 1, voice: 'v1' } },
        400,
        /input.text: must be string/,
      ],
      ['a missing voice', { ...sentence, input: { text: 'x' } }, 400, /input.voice: is required/],
      [
        'a volume over the limit',
        { ...sentence, input: { text: 'x', voice: 'v', volume: 101 } },
        400,
        /input.volume: must be <= 100/,
      ],
      ['broken JSON', '{"model":', 400, /body: is not valid JSON/],
      ['an array', '[]', 400, /body: must be object/],
    ])('for %s', async (_name, body, status, message) => {
      const error = await expectRefused(target.key, native, body);
      expect(error.status).toBe(status);
      expect(error.message).toMatch(message);
    });
  });
});
