import { expect, test } from 'vitest';
import { RateLimit } from '../../server/accounts/rate-limit.ts';
import { startTestGateway } from '../support/gateway.ts';
import { connect } from '../support/socket-client.ts';
import { post } from './books.ts';

test('a key may send so many requests a minute, and its allowance fills evenly', () => {
  let now = 0;
  const limit = new RateLimit(6, () => now);
  const send = (tokenId: number) => limit.take(tokenId);
  for (let count = 0; count < 6; count += 1) send(1);
  expect(() => send(1)).toThrow(expect.objectContaining({ status: 429, retryAfter: 10 }));
  send(2);
  now = 9_999;
  expect(() => send(1)).toThrow(/6 requests a minute/);
  now = 10_000;
  send(1);
  expect(() => send(1)).toThrow();
});

test('the refusal carries retry-after, and an operation without a key is never refused', async () => {
  const target = await startTestGateway({
    limits: { bodyMb: 1, requestsPerMinute: 1, socketsPerKey: 0 },
  });
  const ask = () => fetch(`${target.url}/v1/models`, { headers: { authorization: `Bearer ${target.key}` } });
  expect((await ask()).status).toBe(200);
  const refused = await ask();
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
  expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
  expect((await fetch(`${target.url}/healthz`)).status).toBe(200);
  const handshake = connect(`${target.url}/v1/realtime?model=alpha3-tts-flash-realtime`, { key: target.key });
  await expect(handshake).rejects.toMatchObject({ status: 429 });
  await target.close();
});

test('keys that a limited key makes share its allowance, those of an unlimited one have their own', async () => {
  const target = await startTestGateway({ limits: { bodyMb: 1, requestsPerMinute: 4, socketsPerKey: 1 } });
  const make = async (key: string) => {
    const answer = await post(target.url, key, '/api/token/', { name: 'made', remain_quota: 1 });
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { data: { key: string } }).data.key;
  };
  const ask = async (key: string) => {
    const answer = await fetch(`${target.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    await answer.arrayBuffer();
    return answer.status;
  };
  const limited = await make(target.key);
  const child = await make(limited);
  const grandchild = await make(child);
  const path = `${target.url}/v1/realtime?model=alpha3-tts-flash-realtime`;
  const client = await connect(path, { key: grandchild });
  await expect(connect(path, { key: child })).rejects.toMatchObject({ status: 429 });
  expect([await ask(limited), await ask(child), await ask(grandchild)]).toEqual([429, 429, 429]);
  expect(await ask(await make(target.key))).toBe(200);
  client.socket.terminate();
  await client.closed;
  await target.close();
});
