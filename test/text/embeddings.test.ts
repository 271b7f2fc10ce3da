import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ledgerRows, logRows, makeKey, post, remainingQuota } from '../server/ledger.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';

const path = '/v1/embeddings';
const model = 'theta-embedding-1';
const request = { model, input: ['Hi', 'Ho'] };
/** Maximum tokens of two texts of two bytes each with their marks. */
const held = 2 * (2 + 8);
const quota = 1_000;

const item = (index: number, embedding: unknown = [0.5, -0.5]) => ({ object: 'embedding', index, embedding });
const good = { object: 'list', data: [item(0), item(1)], model: 'other', usage: { prompt_tokens: 6 } };

describe('embeddings', () => {
  let upstream: RecordingUpstream;
  let other: RecordingUpstream;
  let target: TestGateway;
  let key: string;
  let id: number;
  let answer: (response: ServerResponse) => void;

  beforeAll(async () => {
    upstream = await startUpstream((_request, response) => answer(response));
    other = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(good));
    });
    const to = (name: string, change: object) =>
      channelTo(upstream.url, { name, protocol: 'embeddings', ...change });
    const named = [
      { id: model, upstream: 'vendor-vectors-3' },
      { id: 'own-*', upstream: undefined },
    ];
    target = await startTestGateway({
      sandbox: false,
      channels: [
        to('first', { models: named, priority: 9 }),
        channelTo(other.url, {
          name: 'second',
          protocol: 'embeddings',
          models: [{ id: 'own-two', upstream: undefined }],
        }),
        to('closed', { models: [{ id: 'shut-*', upstream: undefined }], groups: [] }),
      ],
      prices: { '*': 2 },
    });
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
    await other.close();
  });
  beforeEach(async () => {
    ({ key, id } = await makeKey(target, { quota }));
    target.gateway.channels.named('first')?.health.reset();
  });

  const respond = (body: unknown, status = 200, contentType = 'application/json') => {
    answer = (response) => {
      response.writeHead(status, { 'content-type': contentType });
      response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
    };
  };
  const call = (body: object = request) => post(target.url, key, path, body);
  const lastRow = async () => (await ledgerRows(target)).at(-1);
  const expectFree = async () => {
    await vi.waitFor(async () => expect((await lastRow())?.state).toBe('refunded'));
    expect(await remainingQuota(target, id)).toBe(quota);
  };

  test('do not forward dimensions of null, which mean unset', async () => {
    respond(good);
    expect((await call({ ...request, dimensions: null })).status).toBe(200);
    expect(upstream.seen.at(-1)?.body).toEqual({ ...request, model: 'vendor-vectors-3' });
  });

  test('forward the request with the provider’s name of the model', async () => {
    respond(good);
    const sent = { ...request, dimensions: 2, user: 'u1', encoding_format: 'float', input_type: 'query' };
    const reply = await call(sent);
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await reply.json()).toEqual({
      object: 'list',
      data: [item(0), item(1)],
      model,
      usage: { prompt_tokens: 6, completion_tokens: 0, total_tokens: 6, input_tokens: 6, output_tokens: 0 },
    });
    expect(upstream.seen.at(-1)).toMatchObject({
      method: 'POST',
      path,
      headers: { authorization: 'Bearer upstream-key' },
      body: { ...sent, model: 'vendor-vectors-3' },
    });
    expect(upstream.seen.at(-1)?.body).toEqual({ ...sent, model: 'vendor-vectors-3' });
    expect(await lastRow()).toMatchObject({ reserved: 2 * held, charged: 12, unit: 'tokens' });
    expect((await logRows(target)).at(-1)).toMatchObject({
      model_name: model,
      channel: 'first',
      units: 6,
      prompt_tokens: 6,
      completion_tokens: 0,
      quota: 12,
      status: 200,
    });
  });

  test.each([
    ['prompt_tokens', { prompt_tokens: 5, total_tokens: 7 }, 5],
    ['input_tokens', { input_tokens: 4 }, 4],
    ['a total alone', { total_tokens: 3 }, 3],
    ['no usage', undefined, 2],
    ['usage that is none', { prompt_tokens: '9', total_tokens: -1 }, 2],
    ['nonsense', { prompt_tokens: 1e300 }, 2],
    ['far too much', { prompt_tokens: 999_999_999 }, held],
  ])('are charged by %s, up to the reservation', async (_title, usage, tokens) => {
    respond({ ...good, usage });
    expect((await call()).status).toBe(200);
    expect(await lastRow()).toMatchObject({ state: 'settled', charged: 2 * tokens });
    expect(await remainingQuota(target, id)).toBe(quota - 2 * tokens);
  });

  test('have the requested encoding for any encoding of the provider', async () => {
    const packed = Buffer.from(Float32Array.from([0.5, -0.5]).buffer).toString('base64');
    const vectors = async (sent: unknown, encoding_format: string) => {
      respond({ ...good, data: [item(0, sent), item(1, sent)] });
      const { data } = (await (await call({ ...request, encoding_format })).json()) as typeof good;
      return data.map(({ embedding }) => embedding);
    };
    expect(await vectors([0.5, -0.5], 'base64')).toEqual([packed, packed]);
    expect(await vectors(packed, 'base64')).toEqual([packed, packed]);
    expect(await vectors(packed, 'float')).toEqual([
      [0.5, -0.5],
      [0.5, -0.5],
    ]);
  });

  test.each<[string, unknown, string?]>([
    ['nothing', ''],
    ['null', 'null'],
    ['a list', '[]'],
    ['an empty object', {}],
    ['a page', '<html><body>Bad Gateway</body></html>', 'text/html'],
    ['a page that calls itself JSON', '<html><body>Bad Gateway</body></html>'],
    ['an error', { error: { message: 'Bad Gateway', code: null } }],
    ['data that is no list', { ...good, data: 'x' }],
    ['no vector', { ...good, data: [] }],
    ['too few vectors', { ...good, data: [item(0)] }],
    ['too many', { ...good, data: [item(0), item(1), item(2)] }],
    ['vectors in another order', { ...good, data: [item(1), item(0)] }],
    ['numbers in the place of vectors', { ...good, data: [0.1, 0.2] }],
    ['lists in the place of vectors', { ...good, data: [[0.1], [0.2]] }],
    ['texts in the place of vectors', { ...good, data: ['{}', '{}'] }],
    ['vectors without numbers', { ...good, data: [item(0, []), item(1, [])] }],
    ['a vector that is null', { ...good, data: [item(0), item(1, [null])] }],
    ['Base64 that is none', { ...good, data: [item(0, '<html>'), item(1)] }],
    ['half a number', { ...good, data: [item(0, 'AAAA'), item(1)] }],
    ['floats that are no numbers', { ...good, data: [item(0, 'AADAfw=='), item(1)] }],
    ['an answer cut off', JSON.stringify(good).slice(0, -9)],
    ['a vector cut off', JSON.stringify(good).slice(0, 50)],
    ['more behind its end', `${JSON.stringify(good)}}`],
    ['a vector without end', `{"data":[{"embedding":[${'1,'.repeat(3_000_000)}`],
    ['text without end', `{"object":"${'x'.repeat(200_000)}`],
  ])('of a provider that returns %s are a 502 without a charge', async (_title, body, contentType) => {
    respond(body, 200, contentType);
    const reply = await call();
    expect([reply.status, await reply.json()]).toEqual([
      502,
      {
        error: {
          code: 'bad_response',
          message: 'The provider did not give a usable answer.',
          request_id: reply.headers.get('x-request-id'),
        },
      },
    ]);
    await expectFree();
  });

  test('are aborted without a charge if a long response is invalid', async () => {
    const input = Array.from({ length: 30 }, () => 'Hi');
    const long = Array.from({ length: 10_000 }, () => 0.123);
    respond({ ...good, data: input.slice(1).map((_, index) => item(index, long)) });
    const reply = await call({ model, input });
    expect(reply.status).toBe(200);
    await expect(reply.text()).rejects.toThrow();
    await expectFree();
  });

  test.each([
    [400, { error: { message: 'Too long.', type: 'invalid_request_error', code: null } }, 400, 'bad_request'],
    [400, { error: { message: 'Too long.', code: 'context_length' } }, 400, 'context_length'],
    [404, { error: { message: 'It is gone.' } }, 404, 'bad_request'],
    [413, { error: { message: 'Too large.' } }, 413, 'bad_request'],
    [401, { error: { message: 'Bad key sk-upstream.' } }, 502, 'bad_response_status_code'],
    [402, { error: { message: 'No credit.' } }, 502, 'bad_response_status_code'],
    [400, { error: { message: 'No credit.', type: 'billing_error' } }, 502, 'bad_response_status_code'],
    [429, { error: { message: 'Slow down.', code: 'rate_limit' } }, 429, 'rate_limit_exceeded'],
    [429, { error: { message: 'Pay.', code: 'insufficient_quota' } }, 502, 'bad_response_status_code'],
    [500, { error: { message: 'It broke at db-7.' } }, 502, 'bad_response_status_code'],
    [529, { error: { message: 'Overloaded.' } }, 503, 'get_channel_failed'],
    [504, '<html>', 504, 'upstream_timeout'],
  ])('that a provider rejects with %i %j are free and return %i %s', async (...[status, body, ...seen]) => {
    respond(body, status);
    const reply = await call();
    const { error } = (await reply.json()) as { error: { code: string } };
    expect([reply.status, error.code]).toEqual(seen);
    await expectFree();
  });

  test('rejected with the provider’s model name show the public name', async () => {
    respond({ error: { message: 'vendor-vectors-3 takes 8 texts.' } }, 400);
    const { error } = (await (await call()).json()) as { error: { message: string } };
    expect(error.message).toBe(`${model} takes 8 texts.`);
  });

  test('use the next channel if the first one fails or is unreachable', async () => {
    for (const failing of [() => respond({}, 500), () => (answer = (response) => response.destroy())]) {
      failing();
      const reply = await call({ ...request, model: 'own-two' });
      expect([reply.status, ((await reply.json()) as typeof good).model]).toEqual([200, 'own-two']);
      expect((await logRows(target)).at(-1)).toMatchObject({ channel: 'second', model_name: 'own-two' });
    }
  });

  test('work with a model that only a channel lists', async () => {
    respond(good);
    expect((await call({ ...request, model: 'own-three' })).status).toBe(200);
    expect((await call({ ...request, model: 'shut-one' })).status).toBe(503);
    expect((await call({ ...request, model: 'nobody-knows' })).status).toBe(404);
  });

  test('are aborted without a charge if the client disconnects before the response', async () => {
    const closed = Promise.withResolvers<void>();
    const leaving = new AbortController();
    answer = (response) => {
      response.once('close', () => closed.resolve());
      leaving.abort();
    };
    await expect(post(target.url, key, path, request, { signal: leaving.signal })).rejects.toThrow();
    await closed.promise;
    await expectFree();
  });

  test('are charged if the client disconnects during the response', async () => {
    const input = Array.from({ length: 400 }, () => 'Hi');
    const long = Array.from({ length: 5_000 }, () => 0.123);
    const closed = Promise.withResolvers<void>();
    answer = (response) => {
      response.once('close', () => closed.resolve());
      response.writeHead(200, { 'content-type': 'application/json' });
      const some = Array.from({ length: 200 }, (_, index) => JSON.stringify(item(index, long)));
      response.write(`{"object":"list","data":[${some.join(',')}`);
    };
    const leaving = new AbortController();
    const unlimited = await makeKey(target, { quota: 100_000 });
    const reply = await post(target.url, unlimited.key, path, { model, input }, { signal: leaving.signal });
    expect(reply.status).toBe(200);
    leaving.abort();
    await closed.promise;
    await vi.waitFor(async () => expect(await lastRow()).toMatchObject({ state: 'settled', charged: 800 }));
  });
});
