import Anthropic, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from '@anthropic-ai/sdk';
import { jsonSchemaOutputFormat } from '@anthropic-ai/sdk/helpers/json-schema';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeKey } from '../../server/ledger.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';

let target: TestGateway;
let sdk: Anthropic;
beforeAll(async () => {
  target = await startTestGateway();
  sdk = new Anthropic({ baseURL: target.url, apiKey: target.key, maxRetries: 0 });
});
afterAll(() => target.close());

const model = 'iota-chat-1';
const prompted = (content: string) => ({
  model,
  max_tokens: 256,
  messages: [{ role: 'user' as const, content }],
});

const caught = async (call: Promise<unknown>): Promise<APIError> => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof APIError) return error;
  throw new Error(`expected an API error, got ${String(error)}`);
};

test('an unmodified public SDK creates a message and reads its request id', async () => {
  const { data: message, request_id } = await sdk.messages
    .create(prompted('When is low tide?'))
    .withResponse();
  expect(message).toMatchObject({
    role: 'assistant',
    model,
    stop_reason: 'end_turn',
    content: [{ type: 'text', text: 'You ask: When is low tide?' }],
    usage: { input_tokens: 5, output_tokens: 7 },
  });
  expect(request_id).toMatch(/^req_/);
});

test('it sends its key in either header', async () => {
  const other = new Anthropic({
    baseURL: target.url,
    apiKey: target.key,
    maxRetries: 0,
    defaultHeaders: { 'x-api-key': target.key, authorization: null },
  });
  expect((await other.messages.create(prompted('Hi.'))).role).toBe('assistant');
  expect((await other.models.list()).data.map(({ id }) => id)).toContain(model);
  expect(await other.models.retrieve('beta/speech-2.8-hd')).toMatchObject({ id: 'beta/speech-2.8-hd' });
});

test('it streams a message and accumulates its events', async () => {
  const stream = sdk.messages.stream(prompted('When is low tide?'));
  const texts: string[] = [];
  stream.on('text', (text) => texts.push(text));
  const message = await stream.finalMessage();
  expect(texts.length).toBeGreaterThan(3);
  expect(texts.join('')).toBe('You ask: When is low tide?');
  expect(message).toMatchObject({
    model,
    stop_reason: 'end_turn',
    usage: { input_tokens: 5, output_tokens: 7 },
  });
  const types: string[] = [];
  for await (const { type } of await sdk.messages.create({ ...prompted('Hi.'), stream: true }))
    types.push(type);
  expect([types[0], types.at(-1)]).toEqual(['message_start', 'message_stop']);
});

test('it calls tools and uses their results, complete and streamed', async () => {
  const tools = [
    {
      name: 'get_tide',
      description: 'Next low tide of a harbour.',
      input_schema: {
        type: 'object' as const,
        properties: { harbour: { type: 'string' } },
        required: ['harbour'],
      },
    },
  ];
  const question = prompted('When is low tide in Vik?');
  const toolCall = await sdk.messages.stream({ ...question, tools }).finalMessage();
  const [use] = toolCall.content;
  if (use?.type !== 'tool_use') throw new Error('the response calls no tool');
  expect([toolCall.stop_reason, use.name, use.input]).toEqual(['tool_use', 'get_tide', { harbour: 'Vik' }]);
  const result = await sdk.messages.create({
    ...question,
    tools,
    messages: [
      ...question.messages,
      { role: 'assistant', content: toolCall.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: '17:40' }] },
    ],
  });
  expect(result.content).toEqual([{ type: 'text', text: '17:40' }]);
});

test('it parses JSON of a requested format, complete and streamed', async () => {
  const format = jsonSchemaOutputFormat({
    type: 'object',
    properties: { harbour: { type: 'string' }, hours: { type: 'integer' }, isLow: { type: 'boolean' } },
    required: ['harbour', 'hours', 'isLow'],
    additionalProperties: false,
  });
  const request = { ...prompted('Low tide in Vik is in 3 hours.'), output_config: { format } };
  const expected = { harbour: 'Vik', hours: 3, isLow: true };
  expect((await sdk.messages.parse(request)).parsed_output).toEqual(expected);
  const streamed = await sdk.messages.stream(request).finalMessage();
  expect(streamed.parsed_output).toEqual(expected);
  expect(streamed.stop_reason).toBe('end_turn');
  expect((await sdk.beta.messages.parse(request)).parsed_output).toEqual(expected);
  const wrong = { format: { type: 'json_schema' as const, schema: 'none' as never } };
  const error = await caught(sdk.messages.create({ ...prompted('Hi.'), output_config: wrong }));
  expect([error.status, error.message]).toEqual([
    400,
    expect.stringContaining('output_config.format.schema'),
  ]);
});

test('it reads the errors of paths that the gateway does not have', async () => {
  const error = await caught(sdk.messages.batches.retrieve('msgbatch_1'));
  expect(error).toBeInstanceOf(NotFoundError);
  expect([error.type, error.requestID]).toEqual(['not_found_error', expect.stringMatching(/^req_/)]);
  const wrongMethod = await caught(sdk.get('/v1/messages'));
  expect([wrongMethod.status, wrongMethod.type]).toEqual([405, 'invalid_request_error']);
});

test('recent features of the API are accepted', async () => {
  const message = await sdk.messages.create({
    model,
    max_tokens: 2_000,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [
      { role: 'user', content: 'Hello.' },
      { role: 'system', content: 'Answer in English.' },
      {
        role: 'user',
        content: [
          {
            type: 'search_result',
            source: 'https://tides.example',
            title: 'Tides',
            content: [{ type: 'text', text: 'Low tide is at 17:40.' }],
          },
          { type: 'text', text: 'When is low tide?' },
        ],
      },
    ],
    thinking: { type: 'adaptive' },
    tools: [
      { type: 'web_search_20260318', name: 'web_search' },
      { type: 'memory_20250818', name: 'memory' },
    ],
    metadata: { user_id: 'u1' },
  });
  expect(message.content).toEqual([{ type: 'text', text: 'Low tide is at 17:40.' }]);
  const withThinking = await sdk.messages.create({
    ...prompted('When is low tide?'),
    max_tokens: 2_000,
    thinking: { type: 'enabled', budget_tokens: 1_024 },
  });
  expect(withThinking.content.map(({ type }) => type)).toEqual(['thinking', 'text']);
  const beta = await sdk.beta.messages.create({ ...prompted('Hi.'), betas: ['output-300k-2026-03-24'] });
  expect(beta.role).toBe('assistant');
});

test('it counts tokens and lists models', async () => {
  const { max_tokens: _, ...prompt } = prompted('When is low tide?');
  expect((await sdk.messages.countTokens(prompt)).input_tokens).toBe(5);
  const ids: string[] = [];
  for await (const { id, type, display_name } of sdk.models.list()) {
    expect([type, display_name]).toEqual(['model', id]);
    ids.push(id);
  }
  expect(ids).toContain(model);
  expect(await sdk.models.retrieve(model)).toMatchObject({ id: model, type: 'model' });
});

test('it throws the matching error with type, message and request id', async () => {
  const poor = await makeKey(target, { quota: 0 });
  const as = (apiKey: string) => new Anthropic({ baseURL: target.url, apiKey, maxRetries: 0 });
  const cases = [
    [
      () => sdk.messages.create({ ...prompted('Hi.'), max_tokens: 0 }),
      BadRequestError,
      'invalid_request_error',
    ],
    [() => sdk.messages.create(prompted('[[reject]]')), BadRequestError, 'invalid_request_error'],
    [() => as('wrong-key-123').messages.create(prompted('Hi.')), AuthenticationError, 'authentication_error'],
    [() => as(poor.key).messages.create(prompted('Hi.')), PermissionDeniedError, 'permission_error'],
    [() => sdk.messages.create({ ...prompted('Hi.'), model: 'nope' }), NotFoundError, 'not_found_error'],
    [() => sdk.messages.create(prompted('[[throttle]]')), RateLimitError, 'rate_limit_error'],
    [() => sdk.messages.create(prompted('[[error]]')), InternalServerError, 'api_error'],
  ] as const;
  for (const [call, kind, type] of cases) {
    const error = await caught(call());
    expect(error, type).toBeInstanceOf(kind);
    expect([error.type, error.requestID]).toEqual([type, expect.stringMatching(/^req_/)]);
  }
});

test('it throws the error that ends a stream', async () => {
  const stream = await sdk.messages.create({ ...prompted('[[fail-late]] Hello there.'), stream: true });
  const types: string[] = [];
  const read = async () => {
    for await (const { type } of stream) types.push(type);
  };
  const error = await caught(read());
  expect(types).toContain('content_block_delta');
  expect(error.type).toBe('overloaded_error');
});

test('it retries only requests that may succeed', async () => {
  const retrying = new Anthropic({ baseURL: target.url, apiKey: target.key, maxRetries: 1 });
  const before = await countCalls();
  await caught(retrying.messages.create(prompted('[[reject]]')));
  expect(await countCalls()).toBe(before + 1);
  await caught(retrying.messages.create(prompted('[[throttle]]')));
  expect(await countCalls()).toBe(before + 3);
});

async function countCalls(): Promise<number> {
  return (await target.gateway.store.read.selectFrom('request_log').select('id').execute()).length;
}
