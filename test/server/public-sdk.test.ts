import OpenAI, { APIError, AuthenticationError, NotFoundError, RateLimitError } from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

let target: TestGateway;
let sdk: OpenAI;
beforeAll(async () => {
  target = await startTestGateway();
  sdk = new OpenAI({ baseURL: `${target.url}/v1`, apiKey: target.key, maxRetries: 0 });
});
afterAll(() => target.close());

const caught = async (call: Promise<unknown>): Promise<APIError> => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof APIError) return error;
  throw new Error(`no API error but ${String(error)}`);
};

test('an unmodified public SDK speaks', async () => {
  const reply = await sdk.audio.speech.create({ model: 'alpha3-tts-flash', voice: 'Aria', input: 'Hello.' });
  const bytes = Buffer.from(await reply.arrayBuffer());
  expect(bytes.subarray(0, 4).toString('latin1')).toBe('RIFF');
  expect(bytes.readUInt32LE(24)).toBe(24000);
});

test('it lists models', async () => {
  const ids: string[] = [];
  for await (const model of sdk.models.list()) ids.push(model.id);
  expect(ids).toContain('voxa-v3-flash');
});

test('it reads code, message and request id of every error', async () => {
  const unknown = await caught(sdk.audio.speech.create({ model: 'nope', voice: 'Aria', input: 'Hello.' }));
  expect(unknown).toBeInstanceOf(NotFoundError);
  expect(unknown.code).toBe('model_not_found');
  expect(unknown.requestID).toMatch(/^req_/);
  const stranger = new OpenAI({ baseURL: `${target.url}/v1`, apiKey: 'wrong-key-123', maxRetries: 0 });
  expect(await caught(stranger.models.list())).toBeInstanceOf(AuthenticationError);
  const slow = await caught(
    sdk.audio.speech.create({ model: 'alpha3-tts-flash', voice: 'Aria', input: 'Hello [[throttle]]' }),
  );
  expect(slow).toBeInstanceOf(RateLimitError);
  expect(slow.headers?.get('retry-after')).toBe('1');
});
