import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { connect } from '../support/socket-client.ts';
import { ledgerRowsWithIds, makeKey, post } from './ledger.ts';

let nodes: TestGateway[];

beforeAll(async () => {
  if (!engines.includes('postgres')) return;
  const first = await startTestGateway({}, 'postgres');
  const { databaseUrl, bootstrapKey } = first.gateway.settings;
  nodes = [await startTestGateway({ databaseUrl, bootstrapKey }), first];
});
// The gateway that drops the schema closes last.
afterAll(async () => {
  for (const node of nodes ?? []) await node.close();
});

test.runIf(engines.includes('postgres'))(
  'the other gateway refuses a deleted key, closes its sockets and charges it nothing',
  async () => {
    const [here, there] = nodes as [TestGateway, TestGateway];
    const token = await makeKey(there, { quota: 1_000 });
    const listModels = async () => {
      const response = await fetch(`${here.url}/v1/models`, {
        headers: { authorization: `Bearer ${token.key}` },
      });
      await response.arrayBuffer();
      return response.status;
    };
    expect(await listModels()).toBe(200);
    const path = '/v1/realtime?model=alpha3-tts-flash-realtime';
    const client = await connect(here.url + path, { key: token.key });
    await client.next(({ type }) => type === 'session.created');
    const headers = { authorization: `Bearer ${there.key}` };
    const response = await fetch(`${there.url}/api/token/${token.id}`, { method: 'DELETE', headers });
    expect(response.status).toBe(200);
    // The other gateway may still cache the key, but the key cannot reserve quota.
    const speech = { model: 'alpha3-tts-flash', voice: 'Aria', input: 'Hello there.' };
    expect((await post(here.url, token.key, '/v1/audio/speech', speech)).status).toBe(401);
    await vi.waitFor(async () => expect(await listModels()).toBe(401), { timeout: 5_000, interval: 50 });
    expect((await client.closed).code).toBe(1008);
    expect((await ledgerRowsWithIds(here)).filter(({ tokenId }) => tokenId === token.id)).toEqual([]);
  },
);
