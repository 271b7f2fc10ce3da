import { afterAll, beforeAll, expect, test } from 'vitest';
import { documented } from '../conformance/contract/documented.ts';
import { jsonOf } from '../conformance/wire/http-response.ts';
import { exchange } from '../support/exchange.ts';
import { expectError } from '../support/expectations.ts';
import { type Mock, startMock } from './server.ts';

const taskMs = 10_000;
let now = 1_924_990_000_000;
let mock: Mock;
beforeAll(async () => {
  mock = await startMock({ now: () => now, taskMs });
});
afterAll(() => mock.close());

const send = (operation: string, variation = {}) =>
  exchange({ url: mock.url, key: 'sk-any' }, documented(operation), variation);

test('a running task cannot be canceled', async () => {
  const created = jsonOf(await send('createNativeVideo')) as { output: { task_id: string } };
  const running = { path: { task_id: created.output.task_id } };
  now += 0.6 * taskMs;
  expect(jsonOf(await send('getNativeTask', running))).toMatchObject({ output: { task_status: 'RUNNING' } });
  expectError(await send('cancelNativeTask', running), 400, { code: 'UnsupportedOperation' });
  expect(jsonOf(await send('getNativeTask', running))).toMatchObject({ output: { task_status: 'RUNNING' } });
});

test('a video expires a day after its end', async () => {
  const { task_id } = jsonOf(await send('createVideo')) as { task_id: string };
  const created = now / 1000;
  now += 3 * taskMs;
  expect(jsonOf(await send('getVideo', { path: { task_id } }))).toMatchObject({
    created_at: created,
    completed_at: created + taskMs / 1000,
    expires_at: created + taskMs / 1000 + 24 * 60 * 60,
  });
});

test.each(['createEmbedding', 'createSpeech', 'createVideo'])(
  'an invalid body of %s has its own length',
  async (operation) => {
    const { status, body } = await send(operation, { headers: { 'x-mock-fault': 'garbage' } });
    expect(status).toBe(200);
    expect(() => JSON.parse(body.toString())).toThrow(SyntaxError);
  },
);
