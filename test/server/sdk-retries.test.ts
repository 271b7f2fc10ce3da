import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { makeKey } from './ledger.ts';

let now = 1_795_000_000_000;
let target: TestGateway;
beforeAll(async () => {
  target = await startTestGateway({}, 'sqlite', () => now);
});
afterAll(() => target.close());

interface Lyrics {
  retryCount?: string;
  prompt: string;
  key?: string;
  headers?: Record<string, string>;
  path?: string;
}

/** Creates a lyrics task. Returns its id. */
async function submit({ retryCount, prompt, key = target.key, headers, path }: Lyrics): Promise<string> {
  const announced = retryCount === undefined ? {} : { 'x-stainless-retry-count': retryCount };
  const response = await fetch(`${target.url}${path ?? '/sigma/submit/lyrics'}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...announced,
      ...headers,
    },
    body: JSON.stringify({ prompt }),
  });
  expect(response.status).toBe(200);
  const { data } = (await response.json()) as { data: string };
  expect(data).toMatch(/^task_/);
  return data;
}

test.each(['-1', '+1', 'abc', '1e9', '0x1', '1.5', '1 2', '1, 1', '9999999999', '١', ''])(
  'a retry count of "%s" is ignored',
  async (retryCount) => {
    const prompt = randomUUID();
    const first = await submit({ prompt, retryCount: '0' });
    const headers = { 'x-stainless-retry-count': Buffer.from(retryCount).toString('latin1') };
    expect(await submit({ prompt, headers })).not.toBe(first);
    expect(await submit({ prompt, retryCount: '1' })).toBe(first);
  },
);

test('a repeated header is ignored', async () => {
  const prompt = randomUUID();
  const first = await submit({ prompt, retryCount: '0' });
  const sending = request(`${target.url}/sigma/submit/lyrics`, { method: 'POST' });
  sending.setHeader('authorization', `Bearer ${target.key}`);
  sending.setHeader('content-type', 'application/json');
  sending.setHeader('x-stainless-retry-count', ['1', '1']);
  sending.end(JSON.stringify({ prompt }));
  const [response] = await once(sending, 'response');
  const text = Buffer.concat(await response.toArray()).toString();
  expect(response.statusCode).toBe(200);
  expect(text).not.toContain(first);
});

test('leading zeros and the highest count are valid', async () => {
  const prompt = randomUUID();
  const first = await submit({ prompt, retryCount: '000' });
  expect(await submit({ prompt, retryCount: '01' })).toBe(first);
  expect(await submit({ prompt, retryCount: '999999999' })).toBe(first);
  expect(await submit({ prompt, retryCount: '999999999' })).not.toBe(first);
});

test('a retry of another key of the same user, or of another user, creates a task', async () => {
  const prompt = randomUUID();
  const own = await makeKey(target, { quota: 1_000 });
  const first = await submit({ prompt, retryCount: '0', key: own.key });
  const { id: userId } = await target.gateway.store.run('createUser', { name: 'b', group: 'default', now });
  const others = [
    target.key,
    (await makeKey(target, { quota: 1_000 })).key,
    (await makeKey(target, { quota: 1_000, userId })).key,
  ];
  for (const key of others) expect(await submit({ prompt, retryCount: '9', key })).not.toBe(first);
  expect(await submit({ prompt, retryCount: '1', key: own.key })).toBe(first);
});

test('another body or operation creates a task, the order of fields and another path do not', async () => {
  const prompt = randomUUID();
  const first = await submit({ prompt, retryCount: '0' });
  expect(await submit({ prompt: `${prompt} `, retryCount: '1' })).not.toBe(first);
  expect(await submit({ prompt, retryCount: '1', path: '/sigma/submit/music' })).not.toBe(first);
  expect(await submit({ prompt, retryCount: '1' })).toBe(first);
});

test('a task answers retries for 10 minutes by the clock of the gateway', async () => {
  const prompt = randomUUID();
  const first = await submit({ prompt, retryCount: '0' });
  now += 599_999;
  expect(await submit({ prompt, retryCount: '1' })).toBe(first);
  now += 1;
  expect(await submit({ prompt, retryCount: '2' })).not.toBe(first);
});

test('an idempotency key takes precedence over the retry count', async () => {
  const prompt = randomUUID();
  const first = await submit({ prompt, retryCount: '0' });
  const headers = { 'idempotency-key': randomUUID() };
  const keyed = await submit({ prompt, retryCount: '1', headers });
  expect(keyed).not.toBe(first);
  expect(await submit({ prompt, retryCount: '0', headers })).toBe(keyed);
});

test('a deleted task answers no retry', async () => {
  const prompt = randomUUID();
  const { key, userId } = await makeKey(target, { quota: 1_000 });
  const id = await submit({ prompt, retryCount: '0', key });
  expect(await submit({ prompt, retryCount: '1', key })).toBe(id);
  const remove = () => target.gateway.store.run('removeTask', { id, userId, format: 'music' });
  await vi.waitFor(async () => expect(await remove()).toBe('removed'));
  expect(await submit({ prompt, retryCount: '2', key })).not.toBe(id);
});
