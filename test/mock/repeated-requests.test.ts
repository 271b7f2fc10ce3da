import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { documented } from '../conformance/contract/documented.ts';
import { jsonOf, type Target } from '../conformance/wire/http-response.ts';
import { exchange } from '../support/exchange.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { type Mock, startMock } from './server.ts';

let now = Date.now();
let mock: Mock;
let gateway: TestGateway;
beforeAll(async () => {
  [gateway, mock] = await Promise.all([startTestGateway(), startMock({ now: () => now })]);
}, 60_000);
afterAll(() => Promise.all([gateway.close(), mock.close()]));

interface Attempt {
  prompt: string;
  /** Undefined: without the header. */
  count: string | undefined;
  key?: string;
}

async function create(target: Target, { prompt, count, key }: Attempt): Promise<string> {
  const headers = { 'x-stainless-retry-count': count, 'idempotency-key': key };
  const response = await exchange(target, documented('createVideo'), { change: { prompt }, headers });
  expect(response.status, response.body.toString()).toBe(200);
  return (jsonOf(response) as { id: string }).id;
}

/** Sends the attempts one after another. Returns the number of the task of each one, in the order of creation. */
async function tasksOf(target: Target, attempts: readonly Attempt[]): Promise<number[]> {
  const ids: string[] = [];
  for (const attempt of attempts) ids.push(await create(target, attempt));
  const created = [...new Set(ids)];
  return ids.map((id) => created.indexOf(id));
}

describe('retry counts', () => {
  test.each<[name: string, attempts: Omit<Attempt, 'prompt'>[], tasks: number[]]>([
    ['a chain', [{ count: '0' }, { count: '1' }, { count: '2' }], [0, 0, 0]],
    ['a second chain', [{ count: '0' }, { count: '1' }, { count: '1' }, { count: '2' }], [0, 0, 1, 1]],
    ['two chains at once', [{ count: '0' }, { count: '0' }, { count: '1' }, { count: '1' }], [0, 1, 1, 0]],
    ['a first request without the header', [{ count: undefined }, { count: '1' }], [0, 1]],
    ['an invalid count', [{ count: '0' }, { count: '1.5' }], [0, 1]],
    ['an idempotency key', [{ count: '0' }, { count: '1', key: 'own' }], [0, 1]],
  ])('of %s have the effect of the gateway', async (prompt, attempts, tasks) => {
    const own = attempts.map((attempt) => ({ prompt, ...attempt }));
    expect(await tasksOf({ url: gateway.url, key: gateway.key }, own)).toEqual(tasks);
    expect(await tasksOf({ url: mock.url, key: 'sk-any' }, own)).toEqual(tasks);
  });

  const target = () => ({ url: mock.url, key: 'sk-any' });
  test('have no effect on another request', async () => {
    const one = await create(target(), { prompt: 'One.', count: '0' });
    expect(await create(target(), { prompt: 'Two.', count: '1' })).not.toBe(one);
  });

  test('have an effect for 10 minutes', async () => {
    const first = await create(target(), { prompt: 'Late.', count: '0' });
    now += 10 * 60_000 - 1;
    expect(await create(target(), { prompt: 'Late.', count: '1' })).toBe(first);
    now += 1;
    expect(await create(target(), { prompt: 'Late.', count: '2' })).not.toBe(first);
  });
});
