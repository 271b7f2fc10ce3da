import { afterAll, beforeAll, expect, test } from 'vitest';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { makeKey } from './books.ts';

const perMinute = 120;

let nodes: TestGateway[] = [];

beforeAll(async () => {
  if (!engines.includes('postgres')) return;
  const limits = { bodyMb: 1, requestsPerMinute: perMinute, socketsPerKey: 2 };
  const first = await startTestGateway({ limits, sandbox: false }, 'postgres');
  const { databaseUrl, bootstrapKey } = first.gateway.settings;
  const more = () => startTestGateway({ limits, sandbox: false, databaseUrl, bootstrapKey });
  nodes = [await more(), await more(), first];
});
// The one that drops the schema is the last to close.
afterAll(async () => {
  for (const node of nodes) await node.close();
});

test.runIf(engines.includes('postgres'))(
  'three gateways let as many requests of a key pass as one would, within 5 %',
  async () => {
    const [node] = nodes as [TestGateway];
    const { key } = await makeKey(node, { quota: 1 });
    const ask = async ({ url }: TestGateway) => {
      const answer = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
      await answer.arrayBuffer();
      return answer.status;
    };
    const startedAt = performance.now();
    const statuses: number[] = [];
    for (let turn = 0; turn < 10; turn += 1)
      statuses.push(
        ...(await Promise.all(nodes.flatMap((one) => Array.from({ length: 8 }, () => ask(one))))),
      );
    const minutes = (performance.now() - startedAt) / 60_000;
    const passed = statuses.filter((status) => status === 200).length;
    expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
    expect(passed).toBeGreaterThanOrEqual(Math.min(perMinute, statuses.length));
    expect(passed).toBeLessThanOrEqual(perMinute * (1.05 + minutes));
  },
);
