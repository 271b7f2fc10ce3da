import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { realtimeScript } from '../realtime/realtime-script.ts';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { connect } from '../support/socket-client.ts';
import { type SocketUpstream, startSocketUpstream } from '../support/socket-upstream.ts';
import { channelTo } from '../support/upstream.ts';
import { makeKey } from './ledger.ts';

const perMinute = 120;

let upstream: SocketUpstream;
let nodes: TestGateway[] = [];

beforeAll(async () => {
  if (!engines.includes('postgres')) return;
  const limits = { bodyMb: 1, requestsPerMinute: perMinute, socketsPerKey: 2 };
  upstream = await startSocketUpstream(realtimeScript());
  const channels = [channelTo(upstream.url, { models: [{ id: 'alpha*', upstream: undefined }] })];
  const common = { limits, channels, sandbox: false };
  const first = await startTestGateway(common, 'postgres');
  const { databaseUrl, bootstrapKey } = first.gateway.settings;
  const more = () => startTestGateway({ ...common, databaseUrl, bootstrapKey });
  nodes = [await more(), await more(), first];
});
// The gateway that drops the schema closes last.
afterAll(async () => {
  for (const node of nodes) await node.close();
  await upstream?.close();
});

test.runIf(engines.includes('postgres'))(
  'three gateways accept as many requests of a key as one would, within 5 %',
  async () => {
    const [node] = nodes as [TestGateway];
    const { key } = await makeKey(node, { quota: 1 });
    const statusAt = async ({ url }: TestGateway) => {
      const reply = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
      await reply.arrayBuffer();
      return reply.status;
    };
    const startedAt = performance.now();
    const statuses: number[] = [];
    for (let turn = 0; turn < 10; turn += 1)
      statuses.push(
        ...(await Promise.all(nodes.flatMap((one) => Array.from({ length: 8 }, () => statusAt(one))))),
      );
    const minutes = (performance.now() - startedAt) / 60_000;
    const passed = statuses.filter((status) => status === 200).length;
    expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
    expect(passed).toBeGreaterThanOrEqual(Math.min(perMinute, statuses.length));
    expect(passed).toBeLessThanOrEqual(perMinute * (1.05 + minutes));
  },
);

test.runIf(engines.includes('postgres'))(
  'a key has one socket limit on three gateways, and a closed socket can be replaced on each',
  async () => {
    const [one, two, three] = nodes as [TestGateway, TestGateway, TestGateway];
    const { key } = await makeKey(one, { quota: 1_000 });
    const open = ({ url }: TestGateway) =>
      connect(`${url}/v1/realtime?model=alpha3-tts-flash-realtime`, { key });
    const clients = await Promise.all([open(one), open(two)]);
    for (const node of nodes) await expect(open(node)).rejects.toMatchObject({ status: 429 });
    clients[0].socket.terminate();
    await clients[0].closed;
    clients.push(await vi.waitFor(() => open(three), { timeout: 10_000, interval: 100 }));
    await expect(open(one)).rejects.toMatchObject({ status: 429 });
    for (const { socket, closed } of clients) {
      socket.terminate();
      await closed;
    }
  },
);

test.runIf(engines.includes('postgres'))(
  'a limit that an admin sets on one gateway applies on the others',
  async () => {
    const [one, two] = nodes as [TestGateway, TestGateway];
    const { key, id } = await makeKey(one, { quota: 1 });
    const statusAt = async () => {
      const reply = await fetch(`${two.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
      await reply.arrayBuffer();
      return [reply.status, reply.status === 429 && Number(reply.headers.get('retry-after')) > 1];
    };
    expect(await statusAt()).toEqual([200, false]);
    const changed = await fetch(`${one.url}/api/admin/tokens/${id}`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${one.gateway.settings.bootstrapKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ requests_per_minute: 1 }),
    });
    expect(changed.status).toBe(200);
    await vi.waitFor(async () => expect(await statusAt()).toEqual([429, true]), {
      timeout: 10_000,
      interval: 100,
    });
  },
);
