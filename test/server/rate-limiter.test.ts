import { expect, test } from 'vitest';
import { limitsOf } from '../../server/keys/allowances.ts';
import { RateLimiter } from '../../server/keys/rate-limiter.ts';
import { SocketLimiter } from '../../server/keys/socket-limiter.ts';
import { startTestGateway } from '../support/gateway.ts';
import { connect } from '../support/socket-client.ts';
import { post } from './ledger.ts';

interface Made {
  key: string;
  requests_per_minute: number | null;
  sockets: number | null;
}

test('a key may send a number of requests a minute, and its bucket refills evenly', () => {
  let now = 0;
  const limiter = new RateLimiter({
    limits: () => ({ requestsPerMinute: 6, socketsPerKey: 0 }),
    timers: { monotonic: () => now },
  });
  const send = (tokenId: number) => expect(limiter.acquire({ tokenId })).toBeUndefined();
  for (let count = 0; count < 6; count += 1) send(1);
  expect(() => send(1)).toThrow(expect.objectContaining({ status: 429, retryAfter: 10 }));
  send(2);
  now = 9_999;
  expect(() => send(1)).toThrow(/6 requests a minute/);
  now = 10_000;
  send(1);
  expect(() => send(1)).toThrow();
});

test('a new limit applies from the next request on', () => {
  let now = 0;
  let requestsPerMinute = 2;
  const limiter = new RateLimiter({
    limits: () => ({ requestsPerMinute, socketsPerKey: 0 }),
    timers: { monotonic: () => now },
  });
  const send = () => expect(limiter.acquire({ tokenId: 1 })).toBeUndefined();
  send();
  send();
  expect(send).toThrow(/2 requests/);
  requestsPerMinute = 60;
  now = 1_000;
  send();
  expect(send).toThrow(/60 requests/);
  requestsPerMinute = 0;
  send();
});

test('a request is deducted from every allowance of its key, or from none', () => {
  const limiter = new RateLimiter({
    limits: () => ({ requestsPerMinute: 0, socketsPerKey: 0 }),
    timers: { monotonic: () => 0 },
  });
  const figures = { sockets: null };
  const outer = { ...figures, tokenId: 1, requestsPerMinute: 3 };
  const send = (tokenId: number, requestsPerMinute: number | null) =>
    expect(
      limiter.acquire({ tokenId, allowances: [{ ...figures, tokenId, requestsPerMinute }, outer] }),
    ).toBeUndefined();
  send(2, 1);
  expect(() => send(2, 1)).toThrow(/1 requests/);
  send(3, null);
  send(3, 0);
  expect(() => send(3, null)).toThrow(/3 requests/);
  expect(() => send(4, 5)).toThrow(/3 requests/);
});

test('the configured limit applies to the outermost allowance only', () => {
  const none = { requestsPerMinute: null, sockets: null };
  const limits = { requestsPerMinute: 9, socketsPerKey: 4 };
  const caller = {
    tokenId: 3,
    allowances: [
      { ...none, tokenId: 3 },
      { tokenId: 2, requestsPerMinute: 5, sockets: 0 },
      { ...none, tokenId: 1 },
    ],
  };
  expect(limitsOf(caller, 'requestsPerMinute', limits)).toEqual([
    { subject: 'key 2', max: 5 },
    { subject: 'key 1', max: 9 },
  ]);
  expect(limitsOf(caller, 'sockets', limits)).toEqual([{ subject: 'key 1', max: 4 }]);
  expect(limitsOf({ tokenId: 7 }, 'sockets', limits)).toEqual([{ subject: 'key 7', max: 4 }]);
  expect(limitsOf({ tokenId: 7 }, 'sockets', { ...limits, socketsPerKey: 0 })).toEqual([]);
});

test('buckets that were not used for a minute are dropped', () => {
  let now = 0;
  let requestsPerMinute = 2;
  const limiter = new RateLimiter({
    limits: () => ({ requestsPerMinute, socketsPerKey: 0 }),
    timers: { monotonic: () => now },
  });
  for (let tokenId = 1; tokenId <= 100; tokenId += 1) void limiter.acquire({ tokenId });
  expect(limiter.size).toBe(100);
  now = 59_999;
  void limiter.acquire({ tokenId: 1 });
  expect(limiter.size).toBe(100);
  now = 60_000;
  // Each request drops up to two refilled buckets. The first was just used.
  void limiter.acquire({ tokenId: 200 });
  expect(limiter.size).toBe(99);
  for (let tokenId = 201; tokenId <= 250; tokenId += 1) void limiter.acquire({ tokenId });
  expect(limiter.size).toBe(52);
  void limiter.acquire({ tokenId: 251 });
  expect(limiter.size).toBe(53);
  expect(limiter.acquire({ tokenId: 1 })).toBeUndefined();
  expect(() => limiter.acquire({ tokenId: 1 })).toThrow(/2 requests/);
  requestsPerMinute = 0;
  void limiter.acquire({ tokenId: 300 });
  expect(limiter.size).toBe(53);
});

test('a key may open a number of sockets, and its counter is dropped after the last', () => {
  let socketsPerKey = 2;
  const limiter = new SocketLimiter({ limits: () => ({ requestsPerMinute: 0, socketsPerKey }) });
  const open = (tokenId = 1) => limiter.acquire({ tokenId }) as () => void;
  const refusal = expect.objectContaining({
    status: 429,
    code: 'rate_limit_exceeded',
    message: 'This key has 2 sockets open, which is its limit; close one first.',
    retryAfter: 1,
  });
  const releases = [open(), open()];
  expect(() => open()).toThrow(refusal);
  releases.pop()?.();
  releases.push(open());
  expect(limiter.size).toBe(1);
  expect(() => open()).toThrow(refusal);
  open(2)();
  expect(limiter.size).toBe(1);
  for (const release of releases) release();
  expect(limiter.size).toBe(0);
  // Sockets opened without a limit count once there is one.
  socketsPerKey = 0;
  const unlimited = [open(), open(), open()];
  socketsPerKey = 2;
  expect(() => open()).toThrow(refusal);
  for (const release of unlimited) release();
  expect(limiter.size).toBe(0);
});

test('a socket counts in every allowance of its key, or in none', () => {
  const limiter = new SocketLimiter({ limits: () => ({ requestsPerMinute: 0, socketsPerKey: 0 }) });
  const outer = { tokenId: 1, requestsPerMinute: null, sockets: 1 };
  const open = (tokenId: number) =>
    limiter.acquire({ tokenId, allowances: [{ ...outer, tokenId, sockets: 5 }, outer] }) as () => void;
  const release = open(2);
  expect(() => open(3)).toThrow(/1 sockets/);
  // The refused socket left no counter behind.
  expect(limiter.size).toBe(2);
  release();
  expect(limiter.size).toBe(0);
  open(3);
  expect(limiter.size).toBe(2);
});

test('the 429 carries retry-after, and an operation without a key is never limited', async () => {
  const target = await startTestGateway({
    limits: { bodyMb: 1, requestsPerMinute: 1, socketsPerKey: 0 },
  });
  const statusOf = () =>
    fetch(`${target.url}/v1/models`, { headers: { authorization: `Bearer ${target.key}` } });
  expect((await statusOf()).status).toBe(200);
  const refused = await statusOf();
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
  expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
  expect((await fetch(`${target.url}/healthz`)).status).toBe(200);
  const handshake = connect(`${target.url}/v1/realtime?model=alpha3-tts-flash-realtime`, { key: target.key });
  await expect(handshake).rejects.toMatchObject({ status: 429 });
  await target.close();
});

test('keys created with a limited key share its allowance, those of an unlimited key have their own', async () => {
  const target = await startTestGateway({ limits: { bodyMb: 1, requestsPerMinute: 4, socketsPerKey: 1 } });
  const make = async (key: string) => {
    const reply = await post(target.url, key, '/api/token/', { name: 'made', remain_quota: 1 });
    expect(reply.status).toBe(200);
    return ((await reply.json()) as { data: { key: string } }).data.key;
  };
  const statusOf = async (key: string) => {
    const reply = await fetch(`${target.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    await reply.arrayBuffer();
    return reply.status;
  };
  const limited = await make(target.key);
  const child = await make(limited);
  const grandchild = await make(child);
  const path = `${target.url}/v1/realtime?model=alpha3-tts-flash-realtime`;
  const client = await connect(path, { key: grandchild });
  await expect(connect(path, { key: child })).rejects.toMatchObject({ status: 429 });
  expect([await statusOf(limited), await statusOf(child), await statusOf(grandchild)]).toEqual([
    429, 429, 429,
  ]);
  expect(await statusOf(await make(target.key))).toBe(200);
  client.socket.terminate();
  await client.closed;
  await target.close();
});

test('a key has its own limits within those of its creator, and both apply', async () => {
  const target = await startTestGateway({ limits: { bodyMb: 1, requestsPerMinute: 100, socketsPerKey: 10 } });
  const make = async (key: string, body: object) => {
    const reply = await post(target.url, key, '/api/token/', { name: 'made', remain_quota: 0, ...body });
    const { data, message } = (await reply.json()) as { data?: Made; message: string };
    return { status: reply.status, message, ...data, key: data?.key ?? '' };
  };
  const statusOf = async (key: string) => {
    const reply = await fetch(`${target.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    await reply.arrayBuffer();
    return reply.status;
  };
  const narrow = await make(target.key, { requests_per_minute: 50, sockets: 1, unlimited_quota: true });
  expect(narrow).toMatchObject({ requests_per_minute: 50, sockets: 1 });
  const beyond = {
    status: 403,
    message: expect.stringMatching(/^(requests_per_minute|sockets): .* 1 to \d+,/),
  };
  expect(await make(target.key, { requests_per_minute: 101 })).toMatchObject(beyond);
  expect(await make(target.key, { sockets: 0 })).toMatchObject(beyond);
  expect(await make(narrow.key, { requests_per_minute: 0 })).toMatchObject(beyond);
  const child = await make(narrow.key, { requests_per_minute: 1, unlimited_quota: true });
  expect(child).toMatchObject({ requests_per_minute: 1, sockets: null });
  expect([await statusOf(child.key), await statusOf(child.key), await statusOf(child.key)]).toEqual([
    200, 429, 429,
  ]);
  const path = `${target.url}/v1/realtime?model=alpha3-tts-flash-realtime`;
  const client = await connect(path, { key: narrow.key });
  // Its sibling shares the allowance of their creator.
  const sibling = await make(narrow.key, {});
  await expect(connect(path, { key: sibling.key })).rejects.toMatchObject({ status: 429 });
  client.socket.terminate();
  await client.closed;
  await target.close();
});

test('a chain of keys has at most 8 levels, each with its own limits', async () => {
  const target = await startTestGateway();
  let { key } = target;
  const narrower = (requests_per_minute: number) =>
    post(target.url, key, '/api/token/', { name: 'made', unlimited_quota: true, requests_per_minute });
  for (let depth = 0; depth < 7; depth += 1)
    ({ key } = ((await (await narrower(100 - depth)).json()) as { data: Made }).data);
  const refused = await narrower(1);
  expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('at most 8 levels')]);
  await target.close();
});
