import { expect, test } from 'vitest';
import { RateLimit } from '../../server/accounts/rate-limit.ts';
import { startTestGateway } from '../support/gateway.ts';
import { connect } from '../support/socket-client.ts';

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
