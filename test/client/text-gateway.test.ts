import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { APIError, NotFoundError, Unigate } from '../../client/index.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let client: Unigate;
beforeAll(async () => {
  gateway = await startTestGateway();
  client = new Unigate({ baseUrl: gateway.url, apiKey: gateway.key });
});
afterAll(() => gateway.close());

const question = {
  model: 'iota-chat-1',
  messages: [{ role: 'user' as const, content: 'When is low tide?' }],
};

describe('messages', () => {
  test('are created, streamed and counted', async () => {
    const message = await client.messages.create({ ...question, max_tokens: 64 });
    expect(message).toMatchObject({ role: 'assistant', content: [{ type: 'text' }] });
    const events = [];
    for await (const event of client.messages.events({ ...question, max_tokens: 64 }))
      events.push(event.type);
    expect([events[0], events.at(-1)]).toEqual(['message_start', 'message_stop']);
    expect(await client.messages.countTokens(question)).toBe(message.usage.input_tokens);
  });

  test('an error during the stream is thrown', async () => {
    const broken = { ...question, messages: [{ role: 'user' as const, content: 'Tide. [[fail-late]]' }] };
    const events = client.messages.events({ ...broken, max_tokens: 64 });
    await expect(
      (async () => {
        for await (const event of events) expect(event.type).not.toBe('error');
      })(),
    ).rejects.toThrow(APIError);
  });
});

test('embeddings', async () => {
  const { data } = await client.embeddings.create({ model: 'theta-embedding-1', input: ['a', 'b'] });
  expect(data.map(({ index }) => index)).toEqual([0, 1]);
});

test('a key is created, listed, used, found in the log and deleted', async () => {
  const { id, key } = await client.tokens.create({ name: 'phone', remain_quota: 10_000 });
  expect((await client.tokens.list({ page_size: 1 })).items).toMatchObject([{ id, name: 'phone' }]);
  const phone = new Unigate({ baseUrl: gateway.url, apiKey: key });
  const { requestId } = await phone.speech.create({ model: 'alpha3-tts-flash', voice: 'Aria', input: 'Hi.' });
  const { items, total } = await client.logs.search({ keyword: requestId });
  expect({ items, total }).toMatchObject({
    items: [{ token_name: 'phone', request_id: requestId }],
    total: 1,
  });
  await client.tokens.delete(id);
  await expect(phone.models.list()).rejects.toThrow('key');
});

test('a verification session', async () => {
  const { session_id } = await client.verification.create({});
  expect(await client.verification.retrieve(session_id)).toMatchObject({ session_id, status: 'pending' });
  await expect(client.verification.retrieve('vs_nobody')).rejects.toThrow(NotFoundError);
});

test('one model', async () => {
  expect(await client.models.retrieve('alpha3-tts-flash')).toMatchObject({ unit: 'characters' });
});

test('the gateway itself', async () => {
  expect(await client.service.health()).toEqual({ status: 'ok' });
  expect(await client.service.readiness()).toEqual({ status: 'ok' });
  expect(await client.service.openApiDocument()).toMatchObject({ openapi: expect.stringMatching(/^3\./) });
  expect(await client.service.asyncApiDocument()).toMatchObject({ asyncapi: expect.stringMatching(/^3\./) });
});
