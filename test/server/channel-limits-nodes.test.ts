import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ChannelLimits } from '../../server/settings/settings.ts';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { post } from './ledger.ts';

const model = 'theta-embedding-1';
const item = { object: 'embedding', index: 0, embedding: [0.5] };
const good = JSON.stringify({ object: 'list', data: [item], model, usage: { prompt_tokens: 5 } });
const isOnPostgres = engines.includes('postgres');

let upstream: RecordingUpstream;
let nodes: TestGateway[];
let held: ServerResponse[];
let isHeld: boolean;

beforeEach(async () => {
  [nodes, held, isHeld] = [[], [], false];
  upstream = await startUpstream((_request, response) => {
    if (isHeld) held.push(response);
    else answer(response);
  });
});
// The gateway that drops the schema closes last.
afterEach(async () => {
  for (const response of held) response.destroy();
  for (const node of nodes.toReversed()) await node.close();
  await upstream.close();
});

function answer(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(good);
}

/** Starts two gateways that share a database and a channel with limits. */
async function start(limits: ChannelLimits): Promise<[TestGateway, TestGateway]> {
  const channels = [channelTo(upstream.url, { protocol: 'embeddings', limits })];
  const common = { sandbox: false, prices: { '*': 1 }, channels };
  const first = await startTestGateway(common, 'postgres');
  nodes.push(first);
  const { databaseUrl, bootstrapKey } = first.gateway.settings;
  const second = await startTestGateway({ ...common, databaseUrl, bootstrapKey });
  nodes.push(second);
  return [first, second];
}

const send = ({ url }: TestGateway, key: string) => post(url, key, '/v1/embeddings', { model, input: 'Hi' });

test.runIf(isOnPostgres)('two gateways share the requests a minute of a channel', async () => {
  const [first, second] = await start({ requestsPerMinute: 20 });
  const both = Array.from({ length: 40 }, (_, index) => send(index % 2 === 0 ? first : second, first.key));
  const passed = (await Promise.all(both)).filter(({ status }) => status === 200).length;
  expect(passed).toBeGreaterThanOrEqual(20);
  // The limit refills during the test, and each gateway may accept a small share before it reports.
  expect(passed).toBeLessThanOrEqual(24);
});

test.runIf(isOnPostgres)('two gateways never exceed the concurrent calls of a channel', async () => {
  const [first, second] = await start({ concurrentCalls: 3 });
  isHeld = true;
  const calls = Array.from({ length: 12 }, (_, index) => send(index % 2 === 0 ? first : second, first.key));
  const refused = await Promise.all(
    calls.map((call) => Promise.race([call.then(({ status }) => status), untilHeld(3)])),
  );
  await vi.waitFor(() => expect(held).toHaveLength(3));
  isHeld = false;
  for (const response of held.splice(0)) answer(response);
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  expect(refused.every((status) => status === undefined || status === 429)).toBe(true);
  expect(statuses.filter((status) => status === 200)).toHaveLength(3);
  expect(statuses.filter((status) => status === 429)).toHaveLength(9);
  // Ended calls are reported to the other gateway.
  await vi.waitFor(async () => expect((await send(second, first.key)).status).toBe(200));
});

test.runIf(isOnPostgres)('two gateways share the spending of a channel', async () => {
  const [first, second] = await start({ spendPerDay: 10 });
  await send(first, first.key);
  await send(first, first.key);
  expect((await send(first, first.key)).status).toBe(429);
  await vi.waitFor(async () => expect((await send(second, first.key)).status).toBe(429));
});

/** Resolves with nothing when the upstream holds that many calls. */
async function untilHeld(count: number): Promise<undefined> {
  await vi.waitFor(() => expect(held.length).toBeGreaterThanOrEqual(count));
  return undefined;
}
