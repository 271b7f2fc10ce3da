import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ChannelLimits } from '../../server/settings/settings.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { logRows, makeKey, post, remainingQuota } from './ledger.ts';

const model = 'theta-embedding-1';
const path = '/v1/embeddings';
const body = { model, input: 'Hi' };
const item = { object: 'embedding', index: 0, embedding: [0.5] };
const good = JSON.stringify({ object: 'list', data: [item], model, usage: { prompt_tokens: 5 } });

let first: RecordingUpstream;
let second: RecordingUpstream;
let target: TestGateway;
let now: number;
/** Responses of the first upstream that wait, if `isHeld`. */
let held: ServerResponse[];
let isHeld: boolean;

beforeEach(async () => {
  [held, isHeld, now] = [[], false, Date.UTC(2026, 10, 26, 12)];
  first = await startUpstream((_request, response) => {
    if (isHeld) held.push(response);
    else answer(response);
  });
  second = await startUpstream((_request, response) => answer(response));
});
afterEach(async () => {
  await target.close();
  await first.close();
  await second.close();
});

function answer(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(good);
}

const limited = (limits: ChannelLimits) =>
  channelTo(first.url, { name: 'first', protocol: 'embeddings', priority: 9, limits });
const other = () => channelTo(second.url, { name: 'second', protocol: 'embeddings' });

async function start(...channels: ReturnType<typeof limited>[]): Promise<void> {
  target = await startTestGateway({ sandbox: false, prices: { '*': 1 }, channels }, 'sqlite', () => now);
}

const send = (key = target.key) => post(target.url, key, path, body);
const statuses = (responses: readonly Response[]) =>
  responses.map(({ status }) => status).toSorted((left, right) => left - right);

describe('requests a minute', () => {
  test('beyond the limit go to the next channel', async () => {
    await start(limited({ requestsPerMinute: 5 }), other());
    const responses = await Promise.all(Array.from({ length: 12 }, () => send()));
    expect(statuses(responses)).toEqual(Array.from({ length: 12 }, () => 200));
    expect([first.seen.length, second.seen.length]).toEqual([5, 7]);
  });

  test('beyond the limits of all channels get 429 with retry-after and cost nothing', async () => {
    await start(limited({ requestsPerMinute: 5 }));
    const { id, key } = await makeKey(target, { quota: 1_000 });
    const responses = await Promise.all(Array.from({ length: 12 }, () => send(key)));
    expect(statuses(responses)).toEqual([200, 200, 200, 200, 200, 429, 429, 429, 429, 429, 429, 429]);
    const refused = responses.find(({ status }) => status === 429);
    expect(refused?.headers.get('retry-after')).toBe('12');
    expect(await refused?.json()).toMatchObject({
      error: {
        code: 'rate_limit_exceeded',
        message: expect.stringContaining(
          'The channels of this model are at their limits. Repeat after 12 seconds.',
        ),
      },
    });
    expect(first.seen).toHaveLength(5);
    await vi.waitFor(async () => expect(await remainingQuota(target, id)).toBe(1_000 - 5 * 5));
    const charged = (await logRows(target)).filter(({ quota }) => quota > 0);
    expect(charged).toHaveLength(5);
  });
});

describe('concurrent calls', () => {
  test('are limited until their responses end', async () => {
    await start(limited({ concurrentCalls: 2 }));
    isHeld = true;
    const running = [send(), send()];
    await vi.waitFor(() => expect(held).toHaveLength(2));
    const refused = await send();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    isHeld = false;
    for (const response of held.splice(0)) answer(response);
    expect(statuses(await Promise.all(running))).toEqual([200, 200]);
    expect((await send()).status).toBe(200);
  });

  test('of a client that disconnects are released', async () => {
    await start(limited({ concurrentCalls: 1 }));
    isHeld = true;
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${target.key}`, 'content-type': 'application/json' };
    const call = fetch(target.url + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal: leaving.signal,
    });
    await vi.waitFor(() => expect(held).toHaveLength(1));
    leaving.abort();
    await expect(call).rejects.toThrow();
    isHeld = false;
    await vi.waitFor(async () => expect((await send()).status).toBe(200));
  });

  test('of an upstream that fails are released, and failover continues', async () => {
    await start(limited({ concurrentCalls: 1 }), other());
    isHeld = true;
    for (let round = 0; round < 2; round += 1) {
      const call = send();
      await vi.waitFor(() => expect(held).toHaveLength(1));
      held.splice(0)[0]?.writeHead(503).end();
      expect((await call).status).toBe(200);
    }
    expect([first.seen.length, second.seen.length]).toEqual([2, 2]);
  });
});

describe('a day of UTC', () => {
  test('ends the refusal of a channel that has spent its quota', async () => {
    await start(limited({ spendPerDay: 10 }));
    expect([(await send()).status, (await send()).status]).toEqual([200, 200]);
    const refused = await send();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '300']);
    now = Date.UTC(2026, 10, 26, 23, 59, 50);
    expect((await send()).headers.get('retry-after')).toBe('10');
    now = Date.UTC(2026, 10, 27);
    expect((await send()).status).toBe(200);
  });

  test('counts what the provider charges, if it is known', async () => {
    await start({ ...limited({ spendPerDay: 10 }), costs: { '*': 1.8 } });
    // Each call costs 5 tokens at 1.8, and the customer pays 5.
    expect([(await send()).status, (await send()).status, (await send()).status]).toEqual([200, 200, 429]);
    const [channel] = target.gateway.channels.all;
    expect(channel?.limiter.spentToday).toBe(18);
  });

  test('is summed up from the log', async () => {
    await start(limited({ spendPerDay: 10 }));
    await send();
    await send();
    expect(
      await target.gateway.store.report('sumChannelSpending', { channels: ['first'], since: 0 }),
    ).toEqual([{ channel: 'first', quota: 10 }]);
  });
});

test('a reload changes limits without forgetting calls in progress', async () => {
  await start(limited({}));
  isHeld = true;
  const running = send();
  await vi.waitFor(() => expect(held).toHaveLength(1));
  const { channels } = target.gateway;
  const [before] = channels.all;
  channels.apply([limited({ concurrentCalls: 1 })]);
  expect(channels.all[0]).toBe(before);
  expect((await send()).status).toBe(429);
  channels.apply([limited({ concurrentCalls: 2 })]);
  const next = send();
  await vi.waitFor(() => expect(held).toHaveLength(2));
  for (const response of held) answer(response);
  expect(statuses(await Promise.all([running, next]))).toEqual([200, 200]);
});

test('the list of channels has the limits with their use', async () => {
  await start(limited({ requestsPerMinute: 5, concurrentCalls: 3, concurrentTasks: 2, spendPerDay: 100 }));
  await send();
  const response = await fetch(`${target.url}/api/admin/channels`, {
    headers: { authorization: `Bearer ${target.key}` },
  });
  const { data } = (await response.json()) as { data: { items: { limits: unknown }[] } };
  expect(data.items.map(({ limits }) => limits)).toEqual([
    [
      { limit: 'requests_per_minute', max: 5, used: 1 },
      { limit: 'concurrent_calls', max: 3, used: 0 },
      { limit: 'concurrent_tasks', max: 2, used: 0 },
      { limit: 'spend_per_day', max: 100, used: 5 },
    ],
  ]);
});
