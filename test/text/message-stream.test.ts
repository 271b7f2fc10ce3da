import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { parseEvents } from '../conformance/wire/event-stream.ts';
import { ledgerRows, logRows, remainingQuota } from '../server/ledger.ts';
import { type MessagesProvider, model, quota, startMessagesProvider } from './messages-provider.ts';

const request = { model, max_tokens: 100, stream: true, messages: [{ role: 'user', content: 'Hi' }] };

const event = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const message = (usage: object = { input_tokens: 8, output_tokens: 1 }) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [],
  model: 'vendor-large-5',
  usage,
});
const start = (usage?: object) =>
  event({ type: 'message_start', message: message(usage) } as { type: string });
const begin = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
const delta = (text: string) =>
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } } as { type: string });
const end = (usage: object | undefined = { output_tokens: 5 }) =>
  event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage } as { type: string });
const stop = event({ type: 'message_stop' });
const failure = (type: string, text = 'It broke at llm-7.vendor.internal.') =>
  event({ type: 'error', error: { type, message: text } } as { type: string });
const whole = start() + event(begin) + delta('Hello ') + delta('größe.') + end() + stop;

describe('a stream', () => {
  let provider: MessagesProvider;
  beforeAll(async () => {
    provider = await startMessagesProvider();
  });
  afterAll(() => provider.close());
  beforeEach(() => provider.renew());

  const streams = (body: string, contentType = 'text/event-stream') =>
    provider.respond(body, 200, contentType);
  const lastRow = async () => (await ledgerRows(provider.target)).at(-1);
  const expectFree = async () => {
    await vi.waitFor(async () => expect((await lastRow())?.state).toBe('refunded'));
    expect(await remainingQuota(provider.target, provider.key.id)).toBe(quota);
  };
  const read = async () => parseEvents(await (await provider.call(request)).text(), 'named');

  test('has the public model and the five counters, and is otherwise unchanged', async () => {
    streams(whole);
    const reply = await provider.call(request);
    expect(reply.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(reply.headers.get('request-id')).toBe(reply.headers.get('x-request-id'));
    const counters = (input: number, output: number) => ({
      input_tokens: input,
      output_tokens: output,
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
    });
    const started = { input_tokens: 8, output_tokens: 1 };
    const begun = { ...message(), model, stop_reason: null, stop_sequence: null, usage: started };
    const ended = {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { ...counters(8, 5), cost: 26 },
    };
    const events = parseEvents(await reply.text(), 'named').map(({ data }) => data);
    expect([events[0], events.at(-2), events.at(-1)]).toEqual([
      { type: 'message_start', message: begun },
      ended,
      { type: 'message_stop' },
    ]);
    expect(
      events
        .slice(1, -2)
        .map((data) => event(data as { type: string }))
        .join(''),
    ).toBe(event(begin) + delta('Hello ') + delta('größe.'));
    expect(await lastRow()).toMatchObject({ state: 'settled', charged: 26 });
    expect((await logRows(provider.target)).at(-1)).toMatchObject({ prompt_tokens: 8, completion_tokens: 5 });
  });

  test('is translated with any chunk size', async () => {
    streams(whole);
    const expected = (await read()).map(({ data }) => data);
    const bytes = Buffer.from(whole);
    provider.answer = (response) => void trickle(response, bytes, 7);
    expect((await read()).map(({ data }) => data)).toEqual(expected);
  });

  test.each([
    ['its last figures', {}, { input_tokens: 9, output_tokens: 7 }, 16],
    ['its first ones of input', { input_tokens: 4 }, { output_tokens: 6 }, 10],
    ['the cache too', { input_tokens: 4, cache_read_input_tokens: 90 }, { output_tokens: 6 }, 100],
    // Three tokens of text and five of the prompt.
    ['an estimate', {}, {}, 8],
    ['an estimate for invalid counts', { input_tokens: 1e300 }, { output_tokens: -7 }, 8],
  ])('is charged by %s', async (_title, first, last, tokens) => {
    streams(start(first) + event(begin) + delta('Hello there.') + end(last) + stop);
    const { data } = (await read()).at(-2) ?? {};
    expect(await lastRow()).toMatchObject({ state: 'settled', charged: 2 * tokens });
    expect(data).toMatchObject({ usage: { total_tokens: expect.any(Number) } });
  });

  test('is settled before its last event', async () => {
    const states: (string | undefined)[] = [];
    const blocked = Promise.withResolvers<void>();
    provider.answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(start() + event(begin) + delta('Hi.'));
      void blocked.promise.then(() => response.end(end() + stop));
    };
    const reader = (await provider.call(request)).body?.getReader();
    for (let text = ''; !text.includes('message_stop'); ) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      if (done) throw new Error(`the stream ended with ${text}`);
      text = Buffer.from(value ?? []).toString();
      states.push((await lastRow())?.state);
      if (text.includes('Hi.')) blocked.resolve();
    }
    expect([states[0], states.at(-1)]).toEqual(['open', 'settled']);
    await reader?.cancel();
  });

  test.each<[string, string, number, string]>([
    ['a web page', '<html>Bad Gateway</html>', 502, 'bad_response'],
    ['invalid JSON', 'event: message_start\ndata: {"type":"mess\n\n', 502, 'bad_response'],
    ['an error', failure('api_error'), 502, 'bad_response_status_code'],
    [
      'an error after a ping',
      event({ type: 'ping' }) + failure('overloaded_error'),
      503,
      'get_channel_failed',
    ],
    ['throttling', failure('rate_limit_error'), 429, 'rate_limit_exceeded'],
    ['a rejection', failure('invalid_request_error'), 400, 'bad_request'],
    ['an error about our account', failure('billing_error'), 502, 'bad_response_status_code'],
  ])('that starts with %s is an error response without a charge', async (_title, body, status, code) => {
    streams(body);
    const reply = await provider.call(request);
    expect([reply.status, await reply.json()]).toMatchObject([status, { type: 'error', error: { code } }]);
    await expectFree();
  });

  test('that is not an event stream is a 502 without a charge', async () => {
    streams(whole, 'application/json');
    expect((await provider.call(request)).status).toBe(502);
    await expectFree();
  });

  const begun = start() + event(begin) + delta('Hello ');
  test.each<[string, string, string, string]>([
    ['the end of the connection', '', 'bad_response', 'api_error'],
    ['all except its last event', delta('there.') + end(), 'bad_response', 'api_error'],
    ['invalid JSON', 'event: ping\ndata: {"ty\n\n', 'bad_response', 'api_error'],
    ['an error', failure('overloaded_error'), 'get_channel_failed', 'overloaded_error'],
    ['a rejection', failure('invalid_request_error'), 'bad_request', 'invalid_request_error'],
  ])('that continues with %s ends with an error event and is free', async (_title, rest, code, type) => {
    streams(begun + rest);
    const reply = await provider.call(request);
    const text = await reply.text();
    const request_id = reply.headers.get('x-request-id');
    expect(parseEvents(text, 'named').at(-1)).toMatchObject({
      event: 'error',
      data: { type: 'error', error: { type, code, request_id }, request_id },
    });
    expect(text).not.toContain('vendor.internal');
    await expectFree();
  });

  test('with a broken connection ends with an error event and is free', async () => {
    provider.answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(begun, () => response.destroy());
    };
    expect((await read()).at(-1)).toMatchObject({
      event: 'error',
      data: { error: { code: 'do_request_failed' } },
    });
    await expectFree();
  });

  test('is aborted and charged for the generated text if the client disconnects', async () => {
    const closed = Promise.withResolvers<void>();
    provider.answer = (response) => {
      response.once('close', () => closed.resolve());
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(begun + delta('x'.repeat(40)));
    };
    const reader = (await provider.call(request)).body?.getReader();
    for (let text = ''; !text.includes('xxxx'); )
      text = Buffer.from((await reader?.read())?.value ?? []).toString();
    await reader?.cancel();
    await closed.promise;
    // Eight tokens of the prompt and twelve of the text, of which the provider has reported one.
    await vi.waitFor(async () => expect(await lastRow()).toMatchObject({ state: 'settled', charged: 40 }));
    expect((await logRows(provider.target)).at(-1)).toMatchObject({
      status: 499,
      error_code: 'client_closed_request',
      prompt_tokens: 8,
      completion_tokens: 12,
    });
  });
});

/** Writes bytes in small chunks, each in its own packet if possible. */
async function trickle(response: ServerResponse, bytes: Buffer, size: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let at = 0; at < bytes.length; at += size) {
    response.write(bytes.subarray(at, at + size));
    await setImmediate();
  }
  response.end();
}
