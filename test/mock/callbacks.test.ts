import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { OperationId } from '../../generated/operations.ts';
import { documented } from '../conformance/contract/documented.ts';
import { schemaProblems } from '../conformance/contract/schemas.ts';
import { jsonOf } from '../conformance/wire/http-response.ts';
import { exchange } from '../support/exchange.ts';
import { ManualTimers } from '../support/manual-timers.ts';
import { type Mock, startMock } from './server.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const taskMs = 1000;
const timers = new ManualTimers();
let mock: Mock;
let receiver: Server;
let url: string;
let received: { headers: IncomingHttpHeaders; body: string }[] = [];
let statuses: number[] = [];
beforeAll(async () => {
  mock = await startMock({ timers, taskMs, callbackSecret: secret });
  receiver = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      received.push({ headers: request.headers, body: chunks.join('') });
      response.writeHead(statuses.shift() ?? 204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/callback`;
});
afterAll(async () => {
  await mock.close();
  receiver.closeAllConnections();
  receiver.close();
});
beforeEach(() => {
  received = [];
  statuses = [];
});

async function create(operation: OperationId, change: Parameters<typeof exchange>[2] = {}) {
  const response = await exchange({ url: mock.url, key: 'sk-any' }, documented(operation), change);
  expect(response.status).toBe(200);
  return response;
}
async function count(number: number): Promise<void> {
  await expect.poll(() => received.length).toBe(number);
}

test.each<[OperationId, object, string[]]>([
  [
    'createVideo',
    { model: 'epsilon-delta-2-0-260128', prompt: 'A boat.' },
    ['queued', 'running', 'succeeded'],
  ],
  ['createOfficialVideo', {}, ['queued', 'running', 'succeeded']],
  ['submitMusic', {}, ['SUCCESS']],
  ['submitLyrics', {}, ['SUCCESS']],
  ['createMusic', {}, ['SUCCESS']],
  ['submitImagine', {}, ['IN_PROGRESS', 'SUCCESS']],
  ['submitImageAction', {}, ['IN_PROGRESS', 'SUCCESS']],
])('a task of %s delivers its states in the documented format', async (operation, fields, expected) => {
  const [callback] = documented(operation).callbacks;
  const [first = '', second] = callback?.field ?? [];
  await create(operation, {
    change: { ...fields, [first]: second === undefined ? url : { [second]: url } },
  });
  const isSent = expected.length;
  for (const [step, at] of [0, taskMs / 5, (taskMs * 4) / 5].entries()) {
    timers.advance(at);
    if (step < isSent - 1 && expected.length === 3) await count(step + 1);
  }
  await count(isSent);
  const bodies = received.map(({ body }) => JSON.parse(body));
  expect(bodies.map(({ status }) => status)).toEqual(expected);
  const [media] = callback?.requests ?? [];
  for (const body of bodies) expect(media && schemaProblems(media, body)).toEqual([]);
  expect(received.map(({ body }) => body).join()).not.toContain('files.example');
  for (const { headers, body } of received)
    new Webhook(secret).verify(body, headers as Record<string, string>);
  expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(isSent);
});

test('a delivery that is not accepted is repeated with the same id', async () => {
  statuses = [500];
  await create('submitMusic', { change: { callback_url: url } });
  timers.advance(taskMs);
  await count(1);
  // The pause starts when the response has arrived.
  await expect
    .poll(() => {
      timers.advance(10_000);
      return received.length;
    })
    .toBe(2);
  expect(received[0]?.headers['webhook-id']).toBe(received[1]?.headers['webhook-id']);
});

test('an idempotency key returns the same task, and 400 for another request', async () => {
  const send = (prompt: string, key: string) =>
    exchange({ url: mock.url, key: 'sk-any' }, documented('createVideo'), {
      change: { prompt },
      headers: { 'idempotency-key': key },
    });
  const first = jsonOf(await send('A boat.', 'one')) as { id: string };
  expect(jsonOf(await send('A boat.', 'one'))).toMatchObject({ id: first.id });
  expect((jsonOf(await send('A boat.', 'two')) as { id: string }).id).not.toBe(first.id);
  const other = await send('A car.', 'one');
  expect([other.status, jsonOf(other)]).toEqual([
    400,
    { error: expect.objectContaining({ code: 'idempotency_key_reused' }) },
  ]);
});

test('operations of one format share their idempotency keys', async () => {
  const headers = { 'idempotency-key': 'song' };
  const send = (operation: OperationId) =>
    exchange({ url: mock.url, key: 'sk-any' }, documented(operation), { headers });
  expect((await send('submitMusic')).status).toBe(200);
  expect((await send('createMusic')).status).toBe(400);
  expect((await send('createOfficialVideo')).status).toBe(200);
  expect((await send('createVideo')).status).toBe(200);
  expect((await send('createGenericVideo')).status).toBe(200);
});
