import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ledgerRows, logRows, remainingQuota } from '../server/ledger.ts';
import { type MessagesProvider, model, quota, startMessagesProvider } from './messages-provider.ts';

const request = { model, max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] };
const good = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'Hello there.' }],
  model: 'vendor-large-5-20260101',
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 8, output_tokens: 3 },
};
const bad = { code: 'bad_response', message: 'The provider did not give a usable answer.' };

describe('messages', () => {
  let provider: MessagesProvider;
  beforeAll(async () => {
    provider = await startMessagesProvider();
  });
  afterAll(() => provider.close());
  beforeEach(() => provider.renew());

  const lastRow = async () => (await ledgerRows(provider.target)).at(-1);
  const expectFree = async () => {
    await vi.waitFor(async () => expect((await lastRow())?.state).toBe('refunded'));
    expect(await remainingQuota(provider.target, provider.key.id)).toBe(quota);
  };

  test('forward the request and its headers with the provider’s name of the model', async () => {
    provider.respond(good);
    const sent = {
      ...request,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'search_result', source: 'a', title: 'b', content: [] }] },
      ],
      thinking: { type: 'between_tools' },
      tools: [{ type: 'memory_20250818', name: 'memory' }, { type: 'browser_toolset_20260801' }],
      context_management: { edits: [] },
    };
    const reply = await provider.call(sent, { headers: { 'anthropic-beta': 'files-2026-01-01' } });
    expect(await reply.json()).toEqual({
      ...good,
      model,
      usage: {
        input_tokens: 8,
        output_tokens: 3,
        prompt_tokens: 8,
        completion_tokens: 3,
        total_tokens: 11,
        cost: 22,
      },
    });
    expect(reply.headers.get('x-unigate-cost')).toBe('22');
    expect(reply.headers.get('request-id')).toBe(reply.headers.get('x-request-id'));
    const seen = provider.upstream.seen.at(-1);
    expect(seen).toMatchObject({
      method: 'POST',
      path: '/v1/messages',
      headers: {
        authorization: 'Bearer upstream-key',
        'compat-version': '2023-06-01',
        'compat-beta': 'files-2026-01-01',
      },
    });
    expect(seen?.body).toEqual({ ...sent, model: 'vendor-large-5' });
    expect((await logRows(provider.target)).at(-1)).toMatchObject({
      model_name: model,
      channel: 'first',
      units: 11,
      prompt_tokens: 8,
      completion_tokens: 3,
      quota: 22,
    });
  });

  test('accept the key in either header', async () => {
    provider.respond(good);
    const key = provider.key.key;
    const send = (headers: Record<string, string>) =>
      fetch(`${provider.target.url}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'anthropic-version': '2026-10-21', ...headers },
        body: JSON.stringify(request),
      });
    expect((await send({ 'x-api-key': key })).status).toBe(200);
    expect((await send({ authorization: `Bearer ${key}` })).status).toBe(200);
    expect(provider.upstream.seen.at(-1)?.headers).toMatchObject({ 'compat-version': '2026-10-21' });
    expect(provider.upstream.seen.at(-1)?.headers).not.toHaveProperty('x-api-key');
  });

  test.each([
    ['both figures', { input_tokens: 5, output_tokens: 4 }, 9],
    ['the other names', { prompt_tokens: 5, completion_tokens: 2 }, 7],
    [
      'a report with cache counts',
      { input_tokens: 1, cache_creation_input_tokens: 20, cache_read_input_tokens: 30, output_tokens: 2 },
      53,
    ],
    // Five tokens of the prompt with its field names, and three of the response.
    ['an estimate', undefined, 8],
    ['an estimate for invalid counts', { input_tokens: -1, output_tokens: '9' }, 8],
    ['one count and an estimate', { output_tokens: 1e300, input_tokens: 4 }, 7],
    ['the reservation at most', { input_tokens: 999_999_999, output_tokens: 1 }, 'all'],
  ])('are charged by %s', async (_title, usage, tokens) => {
    provider.respond({ ...good, usage });
    const { usage: reported } = (await (await provider.call(request)).json()) as typeof good;
    const row = await lastRow();
    const reserved = row?.reserved ?? 0;
    expect(reserved).toBeGreaterThan(2 * 100);
    expect(row).toMatchObject({
      state: 'settled',
      charged: tokens === 'all' ? reserved : 2 * Number(tokens),
    });
    expect(reported).toMatchObject({
      prompt_tokens: reported.input_tokens,
      completion_tokens: reported.output_tokens,
      total_tokens: reported.input_tokens + reported.output_tokens,
    });
    for (const count of Object.values(reported)) expect(Number.isSafeInteger(count)).toBe(true);
  });

  test.each<[string, unknown, string?]>([
    ['nothing', ''],
    ['null', 'null'],
    ['a list', [good]],
    ['an empty object', {}],
    ['a web page', '<html>Bad Gateway</html>', 'text/html'],
    ['a web page with a JSON type', '<html>Bad Gateway</html>'],
    ['an error', { type: 'error', error: { type: 'api_error', message: 'Bad Gateway' } }],
    ['a message without content', { ...good, content: undefined }],
    ['content that is a text', { ...good, content: 'Hello.' }],
    ['a message without an id', { ...good, id: '' }],
    ['a message of the user', { ...good, role: 'user' }],
    ['a message cut off', JSON.stringify(good).slice(0, -5)],
    ['a message of 33 MB', { ...good, more: 'x'.repeat(33 * 1024 * 1024) }],
    ['unrequested events', 'event: ping\ndata: {"type":"ping"}\n\n', 'text/event-stream'],
  ])('of a provider that returns %s are a 502 without a charge', async (_title, body, contentType) => {
    provider.respond(body, 200, contentType);
    const reply = await provider.call(request);
    const request_id = reply.headers.get('x-request-id');
    expect([reply.status, await reply.json()]).toEqual([
      502,
      { type: 'error', error: { type: 'api_error', ...bad, request_id }, request_id },
    ]);
    await expectFree();
  });

  const rejection = (type: string, message: string) => ({ type: 'error', error: { type, message } });

  test.each([
    [400, rejection('invalid_request_error', 'Too long.'), 400, 'bad_request', 'invalid_request_error'],
    [404, rejection('not_found_error', 'No container.'), 404, 'bad_request', 'not_found_error'],
    [413, rejection('request_too_large', 'Too large.'), 413, 'bad_request', 'request_too_large'],
    [415, rejection('invalid_request_error', 'No such file.'), 415, 'bad_request', 'invalid_request_error'],
    [401, rejection('authentication_error', 'Bad key.'), 502, 'bad_response_status_code', 'api_error'],
    [402, rejection('billing_error', 'Pay.'), 502, 'bad_response_status_code', 'api_error'],
    [400, rejection('billing_error', 'Pay.'), 502, 'bad_response_status_code', 'api_error'],
    [429, rejection('rate_limit_error', 'Slow.'), 429, 'rate_limit_exceeded', 'rate_limit_error'],
    [500, rejection('api_error', 'It broke.'), 502, 'bad_response_status_code', 'api_error'],
    [529, rejection('overloaded_error', 'Busy.'), 503, 'get_channel_failed', 'overloaded_error'],
    [504, '<html>', 504, 'upstream_timeout', 'timeout_error'],
  ])('that a provider rejects with %i %j are free and return %i %s %s', async (reported, body, ...seen) => {
    for (const stream of [false, true]) {
      provider.respond(body, reported);
      const reply = await provider.call({ ...request, stream });
      const { error } = (await reply.json()) as { error: { code: string; type: string } };
      expect([reply.status, error.code, error.type]).toEqual(seen);
      await expectFree();
    }
  });

  test('rejected with the provider’s model name and host show the public name and no host', async () => {
    provider.respond(
      rejection('invalid_request_error', 'vendor-large-5 at llm-7.vendor.internal reads less.'),
      400,
    );
    const { error } = (await (await provider.call(request)).json()) as { error: { message: string } };
    expect(error.message).toBe(`${model} at *** reads less.`);
  });

  test('work with a model that only a channel lists', async () => {
    provider.respond(good);
    const answered = async (id: string) => {
      const reply = await provider.call({ ...request, model: id });
      return [reply.status, ((await reply.json()) as { error?: { code: string } }).error?.code];
    };
    expect(await answered('own-three')).toEqual([200, undefined]);
    expect(await answered('shut-one')).toEqual([503, 'model_not_found']);
    expect(await answered('nobody-knows')).toEqual([404, 'model_not_found']);
  });

  test('are aborted without a charge if the client disconnects before the response', async () => {
    const closed = Promise.withResolvers<void>();
    const leaving = new AbortController();
    provider.answer = (response) => {
      response.once('close', () => closed.resolve());
      leaving.abort();
    };
    await expect(provider.call(request, { signal: leaving.signal })).rejects.toThrow();
    await closed.promise;
    await expectFree();
  });

  test('are counted by the provider without a charge', async () => {
    const path = '/v1/messages/count_tokens';
    const { max_tokens: _, ...prompt } = request;
    provider.respond({ input_tokens: 7, more: 1 });
    const rows = (await ledgerRows(provider.target)).length;
    expect(await (await provider.call(prompt, {}, path)).json()).toEqual({ input_tokens: 7 });
    expect(provider.upstream.seen.at(-1)).toMatchObject({
      path,
      headers: { 'compat-version': '2023-06-01' },
      body: { ...prompt, model: 'vendor-large-5' },
    });
    for (const reported of ['', 'null', { input_tokens: -1 }, { input_tokens: '7' }, { tokens: 7 }]) {
      provider.respond(reported);
      const reply = await provider.call(prompt, {}, path);
      expect([reply.status, await reply.json()]).toMatchObject([502, { error: bad }]);
    }
    provider.answer = (response) => response.destroy();
    expect((await provider.call(prompt, {}, path)).status).toBe(502);
    expect((await ledgerRows(provider.target)).length).toBe(rows);
  });
});

test('a profile renames the headers and paths of a provider', async () => {
  const headers = { authorization: 'x-api-key', 'Compat-Version': 'vendor-version' };
  const provider = await startMessagesProvider({
    profile: { headers, paths: { '/v1': '/api/v9' } },
  });
  await provider.renew();
  provider.respond(good);
  expect((await provider.call(request)).status).toBe(200);
  const seen = provider.upstream.seen.at(-1);
  expect(seen).toMatchObject({
    path: '/api/v9/messages',
    headers: { 'x-api-key': 'upstream-key', 'vendor-version': '2023-06-01' },
  });
  expect(Object.keys(seen?.headers ?? {})).not.toContain('authorization');
  expect(Object.keys(seen?.headers ?? {})).not.toContain('compat-version');
  await provider.close();
});
