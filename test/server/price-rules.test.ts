import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { PriceRule } from '../../server/settings/price-rules.ts';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { ledgerRows, logRows, makeKey, post, remainingQuota } from './ledger.ts';

const video = 'epsilon-delta-2-0-260128';
const videoRules: PriceRule[] = [
  { when: { resolution: '1080p' }, per: { completion_tokens: 5.1 }, minimum: 1_000 },
  { when: { reference_video: true }, per: { completion_tokens: 2 } },
  { per: { completion_tokens: 3 } },
];
const videoCosts = {
  [video]: [
    { when: { resolution: '1080p' }, per: { completion_tokens: 2.5 } },
    { per: { completion_tokens: 2 } },
  ],
};
const chat = 'iota-chat-1';
const chatRules: PriceRule[] = [
  { per: { input_tokens: 3, cached_tokens: 0.3, cache_write_tokens: 3.75, output_tokens: 15 } },
];
const prices = { '*': 1, [video]: videoRules, [chat]: chatRules };
const groups = { default: { models: ['*'], ratio: 1 }, trial: { models: ['*'], ratio: 1.5 } };
const quota = 1e9;

interface Explained {
  calculated: number;
  explanation: string[];
  entry: { unit_price: number | null; price_rule: string | null; cost: number | null };
}

describe.each(engines)('price rules on %s', (engine) => {
  let upstream: RecordingUpstream;
  let target: TestGateway;
  let usage: object | undefined;
  let state: object;

  beforeAll(async () => {
    upstream = await startUpstream(({ method, path }, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const message = { id: 'msg_1', role: 'assistant', content: [{ type: 'text', text: 'Hi.' }], usage };
      const task = method === 'POST' ? { id: 'cgt-1' } : { id: 'cgt-1', model: video, ...state };
      response.end(JSON.stringify(path === '/v1/messages' ? message : task));
    });
    const only = (id: string) => [{ id, upstream: undefined }];
    const channels = [
      channelTo(upstream.url, {
        name: 'video',
        protocol: 'official',
        models: only(video),
        costs: videoCosts,
      }),
      channelTo(upstream.url, {
        name: 'text',
        protocol: 'messages',
        models: only(chat),
        costs: { '*': 1.5 },
      }),
    ];
    target = await startTestGateway({ sandbox: false, channels, groups, prices }, engine);
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
  });
  beforeEach(() => {
    state = succeeded(108_000);
    // A reload of an earlier test may have changed the prices.
    target.gateway.prices.apply({ prices, groups, revision: 'first' });
  });

  const succeeded = (tokens?: unknown, seconds: number | undefined = 5) => ({
    status: 'succeeded',
    content: { video_url: 'https://files.example/cat.mp4' },
    ...(tokens !== undefined && { usage: { completion_tokens: tokens, total_tokens: tokens } }),
    ...(seconds !== undefined && { duration: seconds }),
  });

  async function makeVideo(options: object, group = 'trial') {
    const { key, id: token } = await makeKey(target, { quota, group });
    const content = [{ type: 'text', text: 'A cat' }];
    const body = { model: video, content, duration: 5, ...options };
    const created = await post(target.url, key, '/api/v3/contents/generations/tasks', body);
    const { id } = (await created.json()) as { id: string };
    expect(created.status).toBe(200);
    return { id, key, reserved: quota - (await remainingQuota(target, token)) };
  }

  async function untilCharged(id: string): Promise<Explained & Record<'reserved' | 'charged', number>> {
    await vi.waitFor(async () => {
      await target.gateway.tasks.runDue();
      const rows = await logRows(target);
      expect(rows.some(({ task_id }) => task_id === id)).toBe(true);
    });
    const explained = await explain(id);
    const row = (await ledgerRows(target)).at(-1);
    return { ...explained, reserved: row?.reserved ?? 0, charged: row?.charged ?? 0 };
  }

  async function explain(id: string): Promise<Explained> {
    const response = await fetch(`${target.url}/api/admin/charges/${id}`, {
      headers: { authorization: `Bearer ${target.key}` },
    });
    return ((await response.json()) as { data: Explained }).data;
  }

  test.each([
    ['1080p', { resolution: '1080p' }, 5.1],
    ['720p', { resolution: '720p' }, 3],
    ['the default resolution', {}, 3],
  ])('charge the tokens of a video by the rule for %s', async (_words, options, each) => {
    const { id, reserved } = await makeVideo(options);
    const charge = await untilCharged(id);
    expect(charge.charged).toBe(Math.ceil(108_000 * each * 1.5));
    expect(charge.calculated).toBe(charge.charged);
    expect(charge.reserved).toBe(reserved);
    expect(reserved).toBeGreaterThan(charge.charged);
  });

  test('reserve more than the tokens that the vendor bills for each resolution', async () => {
    // Five seconds at 24 frames a second, one token for each 1,024 pixels.
    const sizes = { '480p': [864, 496], '720p': [1_280, 720], '1080p': [1_920, 1_088] } as const;
    for (const [resolution, [width, height]] of Object.entries(sizes)) {
      const { id, reserved } = await makeVideo({ resolution }, 'default');
      const tokens = (width * height * 24 * 5) / 1_024;
      expect(reserved).toBeGreaterThan(tokens * (resolution === '1080p' ? 5.1 : 3));
      expect(reserved).toBeLessThan(tokens * (resolution === '1080p' ? 5.1 : 3) * 1.1);
      await untilCharged(id);
    }
  });

  test('explain the charge', async () => {
    const { id } = await makeVideo({ resolution: '1080p' });
    const { explanation, entry, charged } = await untilCharged(id);
    expect(explanation.slice(0, 3)).toEqual([
      'price rule 1: resolution "1080p"',
      '108000 completion_tokens x 5.1 = 550800',
      `550800 x 1.5 = ${charged}, rounded up`,
    ]);
    expect(entry.unit_price).toBeNull();
    expect(JSON.parse(entry.price_rule ?? '')).toEqual({
      number: 1,
      ...videoRules[0],
      figures: { completion_tokens: 108_000 },
    });
  });

  test('charge the rule of the creation after a reload', async () => {
    const { id } = await makeVideo({ resolution: '1080p' });
    target.gateway.prices.apply({ prices: { '*': 9 }, groups, revision: 'second' });
    state = succeeded(100_000);
    expect((await untilCharged(id)).charged).toBe(765_000);
  });

  test('charge the minimum', async () => {
    const { id } = await makeVideo({ resolution: '1080p' });
    state = succeeded(10);
    const { charged, explanation } = await untilCharged(id);
    expect(charged).toBe(1_500);
    expect(explanation).toContain('minimum 1000');
  });

  test.each([
    ['no tokens', succeeded()],
    ['nothing', succeeded(undefined, 0)],
    ['implausible tokens', succeeded(900_000_000)],
    ['negative tokens', succeeded(-5)],
    ['a text', succeeded('many')],
  ])('charge the reservation if the provider reports %s', async (_words, report) => {
    const { id } = await makeVideo({ resolution: '720p' });
    state = report;
    const { charged, reserved } = await untilCharged(id);
    expect(charged).toBe(reserved);
  });

  test('refund a task that fails', async () => {
    const { id } = await makeVideo({ resolution: '1080p' });
    state = { status: 'failed', error: { code: 'x', message: 'y' } };
    const { charged, calculated } = await untilCharged(id);
    expect([charged, calculated]).toEqual([0, 0]);
  });

  async function chatUsage(report: object) {
    usage = report;
    const { key, id } = await makeKey(target, { quota });
    const body = { model: chat, max_tokens: 50, messages: [{ role: 'user', content: 'Hello there.' }] };
    const headers = { 'compat-version': '2023-06-01' };
    const response = await post(target.url, key, '/v1/messages', body, { headers });
    expect(response.status).toBe(200);
    await response.text();
    return quota - (await remainingQuota(target, id));
  }

  test('charge cached tokens at their own price', async () => {
    const report = {
      input_tokens: 10,
      cache_read_input_tokens: 20,
      cache_creation_input_tokens: 8,
      output_tokens: 5,
    };
    expect(await chatUsage(report)).toBe(Math.ceil(10 * 3 + 20 * 0.3 + 8 * 3.75 + 5 * 15));
  });

  test('charge output within the bound of the request', async () => {
    expect(await chatUsage({ input_tokens: 10, output_tokens: 900_000 })).toBe(10 * 3 + 50 * 15);
    const rows = await logRows(target);
    expect(rows.at(-1)).toMatchObject({ units: 60, prompt_tokens: 10, completion_tokens: 50, quota: 780 });
  });

  test('are listed with the model', async () => {
    const response = await fetch(`${target.url}/v1/models/${video}`, {
      headers: { authorization: `Bearer ${target.key}` },
    });
    expect(await response.json()).toMatchObject({
      unit_price: null,
      group_ratio: 1,
      price_rules: videoRules,
    });
  });

  test('are listed with the prices of the caller', async () => {
    const response = await fetch(`${target.url}/api/me/prices`, {
      headers: { authorization: `Bearer ${target.key}` },
    });
    const { data } = (await response.json()) as { data: { items: { model: string }[] } };
    expect(data.items.find(({ model }) => model === video)).toEqual({
      model: video,
      unit: 'seconds',
      unit_price: null,
      price_rules: videoRules,
      price: null,
    });
  });

  test('are shown in the log of the customer', async () => {
    const { key } = await makeKey(target, { quota });
    await chatUsage({ input_tokens: 1, output_tokens: 1 });
    expect(key).not.toBe('');
    for (const path of ['/api/log/search?keyword=', '/api/me/log']) {
      const response = await fetch(target.url + path, { headers: { authorization: `Bearer ${target.key}` } });
      const { data } = (await response.json()) as { data: { items: object[] } };
      expect(data.items[0]).toMatchObject({
        unit_price: null,
        price_rule: { number: 1, figures: { input_tokens: 1, output_tokens: 1, cached_tokens: 0 } },
      });
    }
    const csv = await fetch(`${target.url}/api/me/log?format=csv`, {
      headers: { authorization: `Bearer ${target.key}` },
    });
    expect(await csv.text()).toContain('""figures"":{');
  });

  test.each([
    ['1080p', 2.5],
    ['720p', 2],
  ])('record what the provider charges for %s', async (resolution, each) => {
    const { id, key } = await makeVideo({ resolution });
    const { entry } = await untilCharged(id);
    expect(entry.cost).toBe(108_000 * each);
    const own = await fetch(`${target.url}/api/log/search?keyword=${id}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(await own.text()).not.toMatch(/cost|margin/);
  });

  test('sum the cost and the margin for operators only', async () => {
    await chatUsage({ input_tokens: 10, output_tokens: 5 });
    const figuresAt = async (path: string) => {
      const response = await fetch(target.url + path, { headers: { authorization: `Bearer ${target.key}` } });
      return (await response.json()) as {
        data: { sum: Record<'quota' | 'cost' | 'margin' | 'refunded', number> };
      };
    };
    const { data } = await figuresAt(`/api/admin/figures?model=${chat}`);
    const costs = (await logRows(target))
      .filter(({ model_name }) => model_name === chat)
      .map(({ units }) => Math.ceil(units * 1.5));
    const cost = costs.reduce((sum, one) => sum + one, 0);
    expect(data.sum).toMatchObject({ cost, margin: data.sum.quota - data.sum.refunded - cost });
    expect((await figuresAt('/api/me/usage')).data.sum).not.toHaveProperty('cost');
  });

  test('cost nothing at the provider for a task that fails', async () => {
    const { id } = await makeVideo({ resolution: '1080p' });
    state = { status: 'failed', error: { code: 'x', message: 'y' } };
    expect((await untilCharged(id)).entry.cost).toBeNull();
  });

  test('keep the ledger consistent', async () => {
    const response = await fetch(`${target.url}/api/admin/audit`, {
      headers: { authorization: `Bearer ${target.key}` },
    });
    expect(await response.json()).toMatchObject({ data: { problems: [] } });
  });
});
