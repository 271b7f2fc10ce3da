import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Receiver } from '../deliveries/receiver.ts';
import { engines } from '../store/engines.ts';
import { disableToken } from '../store/ledger.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { makeKey, post, remainingQuota } from './ledger.ts';

const hour = 3_600_000;

let target: TestGateway;
beforeEach(() => {
  const now = Date.now.bind(Date);
  vi.spyOn(Date, 'now').mockImplementation(() => now() + skew);
});
let skew = 0;
afterEach(async () => {
  vi.restoreAllMocks();
  skew = 0;
  await target.close();
});

const video = {
  model: 'epsilon-delta-2-0-fast-260128',
  content: [{ type: 'text', text: 'A paper boat.' }],
  resolution: '480p',
  duration: 4,
};
const speech = { model: 'alpha3-tts-flash', voice: 'Aria', input: 'Hello. [[slow]]' };

test.each(engines)(
  'on %s a task and its callbacks complete when the clock is set back by an hour',
  { timeout: 60_000 },
  async (engine) => {
    const receiver = await Receiver.start();
    target = await startTestGateway({ callbacks: { allowPrivate: true, secret: undefined } }, engine);
    const body = { ...video, callback_url: receiver.url() };
    const created = await post(target.url, target.key, '/api/v3/contents/generations/tasks', body);
    expect(created.status).toBe(200);
    skew = -hour;
    const lastStatus = () => receiver.seen.at(-1)?.body.status;
    await vi.waitFor(() => expect(lastStatus()).toBe('succeeded'), { timeout: 30_000, interval: 50 });
    await receiver.close();
  },
);

test.each(engines)(
  'on %s a call that runs while the clock is set forward by three hours keeps its reservation, is delivered and charged',
  async (engine) => {
    target = await startTestGateway({}, engine);
    const token = await makeKey(target, { quota: 100 });
    const { store } = target.gateway;
    const open = () =>
      store.read.selectFrom('ledger').select('request_id').where('state', '=', 'open').execute();
    const call = post(target.url, token.key, '/v1/audio/speech', speech);
    await vi.waitFor(async () => expect(await open()).toHaveLength(1), { timeout: 10_000 });
    skew = 3 * hour;
    await store.run('releaseOrphans', { now: Date.now(), dueNow: Date.now() });
    expect(await open()).toHaveLength(1);
    const reply = await call;
    expect(reply.status).toBe(200);
    expect((await reply.arrayBuffer()).byteLength).toBeGreaterThan(1_000);
    await vi.waitFor(async () => expect(await open()).toEqual([]));
    expect(await remainingQuota(target, token.id)).toBeLessThan(100);
    const { duration_ms } = await store.read.selectFrom('request_log').selectAll().executeTakeFirstOrThrow();
    expect(duration_ms).toBeGreaterThanOrEqual(2_000);
    expect(duration_ms).toBeLessThan(hour);
  },
);

test('a revoked key expires within seconds, and a used allowance stays used, however the clock is set', async () => {
  target = await startTestGateway({ limits: { bodyMb: 1, requestsPerMinute: 2, socketsPerKey: 0 } });
  const [spent, revoked] = [await makeKey(target, { quota: 1 }), await makeKey(target, { quota: 1 })];
  const listModels = async (key: string) => {
    const reply = await fetch(`${target.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    await reply.arrayBuffer();
    return reply.status;
  };
  for (let count = 0; count < 2; count += 1) expect(await listModels(spent.key)).toBe(200);
  expect(await listModels(revoked.key)).toBe(200);
  await disableToken(target.gateway.store, revoked);
  skew = 3 * hour;
  expect(await listModels(spent.key)).toBe(429);
  skew = -hour;
  expect(await listModels(spent.key)).toBe(429);
  await vi.waitFor(async () => expect(await listModels(revoked.key)).toBe(401), {
    timeout: 5_000,
    interval: 300,
  });
});
