import { afterEach, expect, test, vi } from 'vitest';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startScriptedProvider } from '../support/scripted-provider.ts';
import { channelTo, startUpstream } from '../support/upstream.ts';
import { ledgerRowsWithIds, makeKey, post } from './ledger.ts';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close();
});

const vectors = {
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
  usage: { prompt_tokens: 1 },
};

async function vectorProvider() {
  const upstream = await startUpstream((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(vectors));
  });
  opened.push(upstream);
  return upstream;
}

const get = async ({ url, key }: TestGateway, path: string) => {
  const reply = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
};
const change = async (target: TestGateway, name: string, to: 'disable' | 'enable', reason = 'moved') => {
  const path = `/api/admin/channels/${name}/${to}`;
  const reply = await post(target.url, target.key, path, to === 'disable' ? { reason } : {});
  expect(reply.status).toBe(200);
  return ((await reply.json()) as { data: { state: string } }).data;
};

test.each(engines)(
  'a disabled channel gets no calls on any gateway until it is enabled, on %s',
  async (engine) => {
    const [first, second] = [await vectorProvider(), await vectorProvider()];
    const channels = [
      channelTo(first.url, { name: 'first', protocol: 'embeddings', priority: 9 }),
      channelTo(second.url, { name: 'second', protocol: 'embeddings' }),
    ];
    const target = await startTestGateway({ sandbox: false, channels }, engine);
    opened.push(target);
    const send = async ({ url, key } = target) => {
      const reply = await post(url, key, '/v1/embeddings', { model: 'theta-embedding-1', input: 'Hi' });
      await reply.arrayBuffer();
      return [reply.status, first.seen.length, second.seen.length];
    };
    expect(await send()).toEqual([200, 1, 0]);
    expect(await change(target, 'first', 'disable')).toMatchObject({ state: 'disabled' });
    expect(await send()).toEqual([200, 1, 1]);
    if (engine === 'postgres') {
      const { databaseUrl, bootstrapKey } = target.gateway.settings;
      const other = await startTestGateway({ sandbox: false, channels, databaseUrl, bootstrapKey });
      opened.push(other);
      const there = { ...other, key: target.key };
      expect(await send(there)).toEqual([200, 1, 2]);
      await change(target, 'first', 'enable');
      await vi.waitFor(async () => expect((await send(there))[1]).toBeGreaterThan(1), { timeout: 5_000 });
      await change(there, 'first', 'disable', 'moved again');
      await vi.waitFor(async () => {
        const before = first.seen.length;
        expect((await send())[1]).toBe(before);
      });
    } else {
      await change(target, 'first', 'disable', 'moved again');
    }
    await change(target, 'second', 'disable');
    expect((await send())[0]).toBe(503);
    await change(target, 'first', 'enable');
    await change(target, 'first', 'enable');
    expect((await send())[0]).toBe(200);
    const { body } = await get(target, '/api/admin/changes?subject=channel+first');
    const { items } = body.data as { items: { action: string; details: { reason?: string } }[] };
    const changes = items.map(({ action, details }) => `${action} ${details.reason ?? ''}`.trim());
    expect(changes.slice(0, 2)).toEqual(['enableChannel', 'disableChannel moved again']);
    expect(changes.filter((one) => one === 'enableChannel')).toHaveLength(engine === 'postgres' ? 2 : 1);
  },
);

test('a disabled channel completes its tasks and serves their files but gets no new ones', async () => {
  const provider = await startScriptedProvider();
  opened.push(provider);
  const channels = [channelTo(provider.url, { name: 'films', protocol: 'official' })];
  const target = await startTestGateway({ sandbox: false, channels });
  opened.push(target);
  const order = { model: 'epsilon-delta-2-5-260628', prompt: 'mp4 png' };
  const created = await post(target.url, target.key, '/v1/videos', order);
  const { id } = (await created.json()) as { id: string };
  await change(target, 'films', 'disable');
  await vi.waitFor(
    async () => expect((await get(target, `/v1/videos/${id}`)).body.status).toBe('completed'),
    {
      timeout: 10_000,
    },
  );
  const headers = { authorization: `Bearer ${target.key}` };
  const file = await fetch(`${target.url}/v1/videos/${id}/content`, { headers });
  expect([file.status, (await file.arrayBuffer()).byteLength > 0]).toEqual([200, true]);
  const refused = await post(target.url, target.key, '/v1/videos', order);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, expect.any(String)]);
});

test('a test call is free, is not logged and lifts a pause', async () => {
  const first = await vectorProvider();
  const models = [{ id: 'theta-embedding-1', upstream: 'vendor-vectors' }];
  const channels = [channelTo(first.url, { name: 'first', protocol: 'embeddings', models })];
  const target = await startTestGateway({ sandbox: false, channels });
  opened.push(target);
  const { id } = await makeKey(target, { quota: 10 });
  const health = target.gateway.channels.named('first')?.health;
  health?.startAttempt({ model: 'theta-embedding-1' }).fail('server_error', 60);
  expect(health?.admit({ model: 'theta-embedding-1' })).toBeUndefined();
  await change(target, 'first', 'disable');
  const reply = await post(target.url, target.key, '/api/admin/channels/first/test', {});
  expect(await reply.json()).toMatchObject({ data: { ok: true, request: 'embeddings' } });
  expect(first.seen[0]?.body).toEqual({ model: 'vendor-vectors', input: 'a' });
  expect(health?.admit({ model: 'theta-embedding-1' })).toBeDefined();
  expect((await ledgerRowsWithIds(target)).filter(({ tokenId }) => tokenId === id)).toEqual([]);
  expect(await target.gateway.store.read.selectFrom('request_log').selectAll().execute()).toEqual([]);
});
