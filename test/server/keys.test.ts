import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { ledgerRows, logRows, makeKey, post, remainingQuota } from './ledger.ts';

interface Key {
  id: number;
  key: string;
  remain_quota: number;
  expired_time: number;
  model_limits: string;
  allow_ips: string;
  group: string;
}

const speech = { model: 'alpha3-tts-flash', voice: 'Aria', input: 'Hello there.' };
const all = { models: ['*'], ratio: 1 };

let target: TestGateway;

const create = async (key: string, body: object) => {
  const reply = await post(target.url, key, '/api/token/', { name: 'made', remain_quota: 0, ...body });
  const { data, message = '' } = (await reply.json()) as { data: Key; message?: string };
  return { status: reply.status, data, message };
};
const listModels = async (key: string, headers: Record<string, string> = {}, path = '/v1/models') => {
  const reply = await fetch(target.url + path, {
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
  return { status: reply.status, body: await reply.text() };
};
const remove = async (key: string, id: number) => {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${target.url}/api/token/${id}`, { method: 'DELETE', headers })).status;
};

describe('a new key', () => {
  beforeAll(async () => {
    target = await startTestGateway({
      groups: { default: all, dear: { models: ['alpha3-*'], ratio: 3 } },
      trustedProxies: ['127.0.0.0/8', '::1'],
    });
  });
  afterAll(() => target.close());

  test('inherits the limits of its creator', async () => {
    const end = 4_102_444_800;
    const limits = {
      expired_time: end,
      model_limits: 'voxa-v2,voxa-v3-flash',
      allow_ips: '127.0.0.0/8\n::1',
    };
    const creator = (await create(target.key, { remain_quota: 100, group: 'dear', ...limits })).data;
    const { data } = await create(creator.key, { remain_quota: 10 });
    expect(data).toMatchObject({ ...limits, group: 'dear', remain_quota: 10 });
    expect(await remainingQuota(target, creator.id)).toBe(90);
  });

  test.each([
    ['a later end', { expired_time: 4_102_444_801 }, 'expired_time: must be at most 4102444800'],
    ['no end', { expired_time: -1 }, 'expired_time'],
    [
      'another model',
      { model_limits: 'voxa-v2,voxa-v3-plus' },
      'model_limits: this key may not use voxa-v3-plus',
    ],
    ['more addresses', { allow_ips: '127.0.0.1\n10.0.0.1' }, 'allow_ips'],
    ['a wider range', { allow_ips: '127.0.0.0/7' }, 'allow_ips'],
    ['another group', { group: 'default' }, 'group'],
  ])('cannot have %s than its creator', async (_, wanted, expected) => {
    const limits = {
      expired_time: 4_102_444_800,
      model_limits: 'voxa-v2,voxa-v3-flash',
      allow_ips: '127.0.0.0/8',
    };
    const user = await target.gateway.store.run('createUser', { name: 'u', group: 'dear', now: 1 });
    const { key } = await makeKey(target, { quota: 100, userId: user.id });
    const creator = (await create(key, { remain_quota: 50, ...limits })).data;
    const { status, message } = await create(creator.key, wanted);
    expect([status, message]).toEqual([403, expect.stringContaining(expected)]);
    const less = { model_limits: 'voxa-v2', allow_ips: '127.0.1.0/24', expired_time: 4_000_000_000 };
    expect((await create(creator.key, less)).data).toMatchObject(less);
  });

  test('has the models and prices of its group', async () => {
    const { data } = await create(target.key, { remain_quota: 1_000, group: 'dear' });
    const { data: models } = JSON.parse((await listModels(data.key)).body) as { data: { id: string }[] };
    expect(models.length).toBeGreaterThan(5);
    expect(models.filter(({ id }) => !id.startsWith('alpha3-'))).toEqual([]);
    const speechReply = await post(target.url, data.key, '/v1/audio/speech', speech);
    expect(speechReply.status).toBe(200);
    // The settlement precedes the end of the response.
    await speechReply.arrayBuffer();
    expect(await remainingQuota(target, data.id)).toBe(1_000 - 3 * speech.input.length);
    const before = await ledgerRows(target);
    const voxa = { ...speech, model: 'voxa-v3-flash', voice: 'voxanna' };
    expect((await post(target.url, data.key, '/v1/audio/speech', voxa)).status).toBe(403);
    expect(await ledgerRows(target)).toEqual(before);
  });

  test('lists only the models it is limited to', async () => {
    const { data } = await create(target.key, { model_limits: 'voxa-v2,no-such-model' });
    const { data: models } = JSON.parse((await listModels(data.key)).body) as { data: { id: string }[] };
    expect(models.map(({ id }) => id)).toEqual(['voxa-v2']);
  });

  test('is refused from other addresses like an unknown key, over sockets too', async () => {
    const { data } = await create(target.key, {
      unlimited_quota: true,
      allow_ips: '192.0.2.7\n198.51.100.0/24',
    });
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const unknown = (await listModels('sk-unknown')).body.replace(/req_\w+/, '');
    for (const headers of [{}, from('192.0.2.8'), from('192.0.2.7, 192.0.2.8'), from('unknown')]) {
      const { status, body } = await listModels(data.key, headers);
      expect([status, body.replace(/req_\w+/, '')]).toEqual([401, unknown]);
      const path = '/v1/realtime?model=alpha3-tts-flash-realtime';
      expect((await listModels(data.key, headers, path)).status).toBe(401);
    }
    expect((await listModels(data.key, from('192.0.2.7'))).status).toBe(200);
    expect((await listModels(data.key, from('1.1.1.1, 198.51.100.9'))).status).toBe(200);
    // A key cached for one address is still refused from another.
    expect((await listModels(data.key, from('192.0.2.8'))).status).toBe(401);
  });

  test('returns its remaining quota to its creator when it is deleted', async () => {
    const creator = (await create(target.key, { remain_quota: 100 })).data;
    const { data } = await create(creator.key, { remain_quota: 70 });
    expect((await post(target.url, data.key, '/v1/audio/speech', speech)).status).toBe(200);
    expect(await remove(creator.key, data.id)).toBe(200);
    expect(await remainingQuota(target, creator.id)).toBe(100 - speech.input.length);
    expect((await listModels(data.key)).status).toBe(401);
    expect(await remove(creator.key, data.id)).toBe(404);
    expect(await remove(target.key, creator.id)).toBe(200);
    expect((await listModels(creator.key)).status).toBe(401);
  });
});

describe.each(engines)('on %s', (engine) => {
  beforeAll(async () => {
    target = await startTestGateway({}, engine);
  });
  afterAll(() => target.close());

  test('50 concurrent calls of a key never exceed its quota', async () => {
    const calls = 50;
    const affordable = 20;
    const quota = affordable * speech.input.length + 5;
    const { data } = await create(target.key, { remain_quota: quota });
    const replies = await Promise.all(
      Array.from({ length: calls }, () => post(target.url, data.key, '/v1/audio/speech', speech)),
    );
    await Promise.all(replies.map((reply) => reply.arrayBuffer()));
    const ok = replies.filter(({ status }) => status === 200).length;
    expect(replies.filter(({ status }) => status !== 200 && status !== 403)).toEqual([]);
    expect(ok).toBeLessThanOrEqual(affordable);
    expect(ok).toBeGreaterThan(0);
    const left = await remainingQuota(target, data.id);
    expect(left).toBe(quota - ok * speech.input.length);
    const charged = (await logRows(target)).filter(({ token_id: id }) => id === data.id);
    expect(charged.reduce((sum, { quota: cost }) => sum + cost, 0)).toBe(quota - left);
  });

  test('a key deleted during use is refused, and running calls are charged', async () => {
    const creator = (await create(target.key, { remain_quota: 1_000 })).data;
    const { data } = await create(creator.key, { remain_quota: 1_000 });
    const one = async () => {
      const reply = await post(target.url, data.key, '/v1/audio/speech', speech);
      await reply.arrayBuffer();
      return reply.status;
    };
    const started = Array.from({ length: 10 }, one);
    await started[0];
    expect(await remove(creator.key, data.id)).toBe(200);
    const rows = (await ledgerRows(target)).length;
    expect(await Promise.all(Array.from({ length: 10 }, one))).toEqual(Array(10).fill(401));
    const statuses = await Promise.all(started);
    expect(statuses.filter((status) => status !== 200 && status !== 401)).toEqual([]);
    expect((await ledgerRows(target)).length).toBe(rows);
    const spent = statuses.filter((status) => status === 200).length * speech.input.length;
    // Its leases are returned within 1 s.
    await vi.waitFor(async () => {
      while ((await target.gateway.store.run('returnLeftovers', { limit: 10, now: Date.now() })) > 0);
      expect(await remainingQuota(target, creator.id)).toBe(1_000 - spent);
    });
  });
});
