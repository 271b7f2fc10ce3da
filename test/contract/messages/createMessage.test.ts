import { afterEach, describe, expect, inject, test } from 'vitest';
import type { Json } from '../../../openapi/tools/document.ts';
import { documented } from '../../conformance/contract/documented.ts';
import { parseEvents } from '../../conformance/wire/event-stream.ts';
import { type HttpResponse, jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { assertConforms, expectError } from '../../support/expectations.ts';

interface Message {
  content: { type: string; text?: string; input?: object }[];
  stop_reason: string;
  stop_sequence: string | null;
  usage: { input_tokens: number; output_tokens: number };
}

const model = 'iota-chat-1';
const messageBody = (content: Json, more: { readonly [field: string]: Json } = {}) => ({
  model,
  max_tokens: 256,
  messages: [{ role: 'user', content }],
  ...more,
});
const tide = {
  name: 'get_tide',
  description: 'Next low tide of a harbour.',
  input_schema: { type: 'object', properties: { harbour: { type: 'string' } }, required: ['harbour'] },
};

describeOperation('createMessage', {
  invalid: {
    'without a version': { headers: { 'compat-version': undefined }, field: 'compat-version' },
    'without a model': { change: { model: undefined }, field: 'model' },
    'without max_tokens': { change: { max_tokens: undefined }, field: 'max_tokens' },
    'max_tokens of 0': { change: { max_tokens: 0 }, field: 'max_tokens', limit: 1 },
    'without messages': { change: { messages: undefined }, field: 'messages' },
    'no message': { change: { messages: [] }, field: 'messages', limit: 1 },
    'a role that does not exist': {
      change: { messages: [{ role: 'judge', content: 'Be brief.' }] },
      field: 'messages.0.role',
      limit: 'assistant',
    },
    'a message without content': { change: { messages: [{ role: 'user' }] }, field: 'messages.0.content' },
    'a block without a type': {
      change: { messages: [{ role: 'user', content: [{ text: 'Hi.' }] }] },
      field: 'messages.0.content.0.type',
    },
    'a text block without text': {
      change: { messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      field: 'messages.0.content.0.text',
    },
    'a file id of the provider': {
      change: {
        messages: [
          { role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'file_1' } }] },
        ],
      },
      field: 'messages.0.content.0.source.type',
      limit: 'base64',
    },
    'a tool without its schema': { change: { tools: [{ name: 'get_tide' }] }, field: 'tools.0.input_schema' },
    'a temperature over 1': { change: { temperature: 1.5 }, field: 'temperature', limit: 1 },
    'a stream that is a string': { change: { stream: 'yes' }, field: 'stream' },
  },
  gatewayTests: (call) => {
    const message = (response: HttpResponse) => jsonOf(response) as Message;
    const text = ({ content }: Message) => content.map((block) => block.text ?? '').join('');

    test('200 a message from words of the prompt, with the five counters', async () => {
      const response = await call({ body: messageBody('When is low tide?') });
      expect(jsonOf(response)).toEqual({
        id: expect.stringMatching(/^msg_/),
        type: 'message',
        role: 'assistant',
        content: [{ type: 'text', text: 'You ask: When is low tide?' }],
        model,
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: {
          input_tokens: 5,
          output_tokens: 7,
          prompt_tokens: 5,
          completion_tokens: 7,
          total_tokens: 12,
          cost: 12,
        },
      });
      expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'));
    });
    test('200 the sentence of the documents and earlier turns that matches the question', async () => {
      const source = {
        type: 'text',
        media_type: 'text/plain',
        data: 'Ferries leave at 9. Low tide is at 17:40.',
      };
      const body = messageBody([
        { type: 'document', source },
        { type: 'text', text: 'When is the tide low?' },
      ]);
      expect(text(message(await call({ body })))).toBe('Low tide is at 17:40.');
      const earlierMessages = [
        { role: 'user', content: 'My harbour is called Vik. I like boats.' },
        { role: 'assistant', content: 'Noted.' },
        { role: 'user', content: [{ type: 'text', text: 'What is my harbour called?' }] },
      ];
      expect(text(message(await call({ body: { ...body, messages: earlierMessages } })))).toBe(
        'My harbour is called Vik.',
      );
    });
    test('200 at most max_tokens, up to a stop sequence', async () => {
      const short = message(
        await call({ body: messageBody('One two three four five six.', { max_tokens: 4 }) }),
      );
      expect(short).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 4 } });
      const stopped = message(
        await call({ body: messageBody('One two three.', { stop_sequences: ['three', 'two'] }) }),
      );
      expect(stopped).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'two' });
      expect(text(stopped)).toBe('You say: One ');
    });
    test('200 a requested tool call and its result', async () => {
      const question = { role: 'user', content: 'When is low tide in Vik?' };
      const toolCall = message(await call({ body: messageBody(question.content, { tools: [tide] }) }));
      expect(toolCall).toMatchObject({
        stop_reason: 'tool_use',
        content: [{ type: 'tool_use', name: 'get_tide', input: { harbour: 'Vik' } }],
      });
      const result = { type: 'tool_result', tool_use_id: 'tool_1', content: '17:40' };
      const messages = [
        question,
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'tool_1', name: 'get_tide', input: { harbour: 'Vik' } }],
        },
        { role: 'user', content: [result] },
      ];
      const toolAnswer = message(await call({ body: messageBody('', { tools: [tide], messages }) }));
      expect([toolAnswer.stop_reason, text(toolAnswer)]).toEqual(['end_turn', '17:40']);
      const withoutTools = messageBody('When is low tide?', { tools: [tide], tool_choice: { type: 'none' } });
      expect(message(await call({ body: withoutTools })).stop_reason).toBe('end_turn');
    });
    test('200 fields of newer clients', async () => {
      const newer = messageBody([{ type: 'search_result', source: 'a', title: 'Tides', content: [] }], {
        thinking: { type: 'adaptive', display: 'omitted' },
        tools: [{ type: 'web_search_20260318', name: 'web_search', max_uses: 2 }],
        output_config: { effort: 'low' },
        inference_geo: 'eu',
        speed: null,
      });
      const system = { role: 'system', content: 'Be brief.' };
      const body = { ...newer, messages: [...newer.messages, system, { role: 'user', content: 'Hi.' }] };
      const headers = { 'compat-version': '2026-10-21', 'anthropic-beta': 'a-2026-01-01,b-2026-02-02' };
      expect((await call({ body, headers })).status).toBe(200);
    });
    test('200 thinking before the text', async () => {
      const body = messageBody('When is low tide?', {
        max_tokens: 2_048,
        thinking: { type: 'enabled', budget_tokens: 1_024 },
      });
      expect(message(await call({ body })).content.map(({ type }) => type)).toEqual(['thinking', 'text']);
    });

    const streamed = async (body: { readonly [field: string]: Json }) =>
      parseEvents((await call({ body: { ...body, stream: true } })).body.toString('utf8'), 'named');

    test('200 named events that add up to the message', async () => {
      const events = await streamed(messageBody('When is low tide?'));
      const names = events.map(({ event }) => event);
      expect([names[0], names.at(-2), names.at(-1)]).toEqual([
        'message_start',
        'message_delta',
        'message_stop',
      ]);
      const chunks = events.flatMap(({ data }) => (data as { delta?: { text?: string } }).delta?.text ?? []);
      expect(chunks.length).toBeGreaterThan(3);
      expect(chunks.join('')).toBe('You ask: When is low tide?');
      expect(events[0]?.data).toMatchObject({
        message: { model, usage: { input_tokens: 5 } },
      });
      expect(events.at(-2)?.data).toMatchObject({
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { input_tokens: 5, output_tokens: 7, total_tokens: 12 },
      });
    });
    test('200 the arguments of a tool call in chunks', async () => {
      const events = await streamed(messageBody('When is low tide in Vik?', { tools: [tide] }));
      const json = events.flatMap(
        ({ data }) => (data as { delta?: { partial_json?: string } }).delta?.partial_json ?? [],
      );
      expect(JSON.parse(json.join(''))).toEqual({ harbour: 'Vik' });
    });

    test('400 an embedding model', async () => {
      const response = await call({ body: { ...messageBody('Hi.'), model: 'theta-embedding-1' } });
      expectError(response, 400, {
        code: 'invalid_request',
        field: 'model',
        includes: ['POST /v1/embeddings'],
      });
    });
    test('404 an unknown model', async () => {
      const response = await call({ body: { ...messageBody('Hi.'), model: 'iota-chat-9' } });
      expectError(response, 404, { code: 'model_not_found', field: 'model', includes: ['iota-chat-9'] });
      expect(jsonOf(response)).toMatchObject({ type: 'error', error: { type: 'not_found_error' } });
    });
    test('403 for a key without quota or without access to the model', async () => {
      const quota = { code: 'insufficient_user_quota', includes: [model] };
      expectError(await call({ body: messageBody('Hi.'), as: 'noQuota' }), 403, quota);
      const closed = { code: 'access_denied', field: 'model' };
      expectError(await call({ body: messageBody('Hi.'), as: 'noModels' }), 403, closed);
    });

    describe('if the provider fails', () => {
      // Three consecutive failures would disable the channel, so a success comes in between.
      afterEach(async () => {
        expect((await call({ body: messageBody('Hi.') })).status).toBe(200);
      });

      describe.each([
        ['whole', false],
        ['in events', true],
      ])('%s', (_how, stream) => {
        test.each([
          ['reject', 400, 'invalid_request_error'],
          ['throttle', 429, 'rate_limit_error'],
          ['unauthorized', 502, 'api_error'],
          ['denied', 502, 'api_error'],
          ['error', 502, 'api_error'],
          ['malformed', 502, 'api_error'],
          ['unavailable', 503, 'overloaded_error'],
        ])('%s: %i', async (trigger, status, type) => {
          const response = await call({ body: messageBody(`[[${trigger}]] Hi.`, { stream }) });
          expectError(response, status);
          expect(jsonOf(response)).toMatchObject({ type: 'error', error: { type } });
        });
      });
      test.each(['drop', 'fail-late'])('502 %s before the message', async (trigger) => {
        expectError(await call({ body: messageBody(`[[${trigger}]] Hi.`) }), 502);
      });
      test.each([
        ['drop', 'api_error'],
        ['fail-late', 'overloaded_error'],
      ])('200 events up to the failure, with an error as the last one: %s', async (trigger, type) => {
        const events = await streamed(messageBody(`[[${trigger}]] Hi there.`));
        expect(events.map(({ event }) => event)).toContain('content_block_delta');
        expect(events.at(-1)).toMatchObject({ event: 'error', data: { type: 'error', error: { type } } });
      });
    });
  },
});

const compatVersion = 'compat-version';
const publicVersion = 'anthropic-version';

describe.each(['createMessage', 'countMessageTokens'])('the version header of %s', (id) => {
  const operation = documented(id);
  const statusWith = async (name: 'mock' | 'gateway', headers: Record<string, string | undefined>) => {
    const request = { headers: { [compatVersion]: undefined, ...headers } };
    const response = assertConforms(await exchange(inject(name), operation, request), operation);
    if (response.status === 400)
      expectError(response, 400, name === 'gateway' ? { field: compatVersion } : {});
    return response.status;
  };

  test.each(['mock', 'gateway'] as const)('%s accepts the header of public clients', async (name) => {
    const compatStatus = await statusWith(name, { [compatVersion]: '2023-06-01' });
    expect(await statusWith(name, { [publicVersion]: '2026-10-21' })).toBe(compatStatus);
    expect(await statusWith(name, { [publicVersion]: 'x', [compatVersion]: '2023-06-01' })).toBe(
      compatStatus,
    );
    expect(compatStatus).not.toBe(400);
  });

  test.each(['mock', 'gateway'] as const)('%s applies the same limits to both', async (name) => {
    expect(await statusWith(name, {})).toBe(400);
    expect(await statusWith(name, { [publicVersion]: 'x'.repeat(64) })).not.toBe(400);
    expect(await statusWith(name, { [publicVersion]: 'x'.repeat(65) })).toBe(400);
    expect(await statusWith(name, { [publicVersion]: 'x', [compatVersion]: 'x'.repeat(65) })).toBe(400);
  });
});

test('a browser can send the version header of public clients', async () => {
  const response = await fetch(`${inject('gateway').url}/v1/messages`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': publicVersion,
    },
  });
  expect(response.headers.get('access-control-allow-headers')).toContain(publicVersion);
});
