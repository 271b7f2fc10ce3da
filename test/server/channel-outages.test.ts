import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemTimers } from '../../server/lib/timers.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { connect } from '../support/socket-client.ts';
import { startSocketUpstream } from '../support/socket-upstream.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { makeKey, post, remainingQuota } from './ledger.ts';

const vectors = {
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
  model: 'other',
  usage: { prompt_tokens: 1 },
};

/** An embeddings upstream whose response a test can change. */
interface ScriptedUpstream extends RecordingUpstream {
  respond(response: ServerResponse): void | Promise<void>;
}

const respondOk = (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(vectors));
};
const respondWithError =
  (status: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end('{}');
  };
const breaks = (response: ServerResponse) => void response.socket?.destroy();

let skew = 0;
const timers = { ...systemTimers, monotonic: () => systemTimers.monotonic() + skew };
const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const scripted of opened.splice(0).toReversed()) await scripted.close();
});

async function startScripted(): Promise<ScriptedUpstream> {
  const upstream = await startUpstream((_request, response) => scripted.respond(response));
  const scripted: ScriptedUpstream = Object.assign(upstream, { respond: respondOk });
  opened.push(scripted);
  return scripted;
}

describe('a gateway with two accounts', () => {
  let first: ScriptedUpstream;
  let second: ScriptedUpstream;
  let target: TestGateway;

  beforeEach(async () => {
    first = await startScripted();
    second = await startScripted();
    const models = ['*', 'other-*'].map((id) => ({ id, upstream: undefined }));
    const channels = [
      channelTo(first.url, { name: 'first', protocol: 'embeddings', models, priority: 9 }),
      channelTo(second.url, { name: 'second', protocol: 'embeddings', models }),
    ];
    target = await startTestGateway({ sandbox: false, channels }, 'sqlite', Date.now, undefined, timers);
    opened.push(target);
  });

  const send = async (key = target.key, model = 'theta-embedding-1') => {
    const reply = await post(target.url, key, '/v1/embeddings', { model, input: 'Hi' });
    await reply.arrayBuffer();
    return reply;
  };
  const health = () => target.gateway.channels.named('first')?.health;
  const requestCounts = () => [first.seen.length, second.seen.length];

  test('counts the lost connections of a hundred requests as one failure and hides it from clients', async () => {
    const waiting: ServerResponse[] = [];
    first.respond = (response) => void waiting.push(response);
    const calls = Array.from({ length: 100 }, () => send());
    await vi.waitFor(() => expect(waiting).toHaveLength(100), 10_000);
    first.respond = respondOk;
    for (const response of waiting) breaks(response);
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(requestCounts()).toEqual([100, 100]);
    expect([health()?.state, health()?.figures.failures.disconnected]).toEqual(['healthy', 100]);
    await send();
    expect(requestCounts()).toEqual([101, 100]);
  });

  test('skips a dead channel, probes it with one request and uses it again', async () => {
    first.respond = breaks;
    for (let episode = 0; episode < 3; episode += 1) {
      skew += 1_500;
      expect((await send()).status).toBe(200);
    }
    expect([health()?.state, first.seen.length]).toEqual(['resting', 3]);
    await Promise.all(Array.from({ length: 10 }, () => send()));
    expect(first.seen).toHaveLength(3);
    skew += 5_000;
    const probes: ServerResponse[] = [];
    first.respond = (response) => void probes.push(response);
    const calls = Array.from({ length: 10 }, () => send());
    await vi.waitFor(() => expect(second.seen).toHaveLength(22));
    expect([probes.length, health()?.state]).toEqual([1, 'probing']);
    for (const probe of probes) respondOk(probe);
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(10).fill(200));
    first.respond = respondOk;
    await Promise.all(Array.from({ length: 5 }, () => send()));
    expect([health()?.state, first.seen.length]).toEqual(['healthy', 9]);
  });

  test('skips a channel whose key is refused after one call, and uses it again when the key works', async () => {
    first.respond = respondWithError(401);
    for (let times = 0; times < 4; times += 1) expect((await send()).status).toBe(200);
    expect(requestCounts()).toEqual([1, 4]);
    const list = await fetch(`${target.url}/api/admin/channels`, {
      headers: { authorization: `Bearer ${target.key}` },
    });
    const { data } = (await list.json()) as { data: { items: object[] } };
    expect(data.items).toMatchObject([
      { name: 'first', state: 'resting', unhealthy_reason: 'key_refused' },
      { name: 'second', state: 'healthy', unhealthy_reason: null },
    ]);
    skew += 5_000;
    await send();
    await send();
    expect([requestCounts(), health()?.state]).toEqual([[2, 6], 'resting']);
    first.respond = respondOk;
    skew += 10_000;
    await send();
    expect([requestCounts(), health()?.state]).toEqual([[3, 6], 'healthy']);
  });

  test('pauses only the throttled user', async () => {
    const { id: berta } = await target.gateway.store.run('createUser', {
      name: 'berta',
      group: 'default',
      now: 1,
    });
    const { key: hers } = await makeKey(target, { quota: 1_000, userId: berta });
    first.respond = respondWithError(429, { 'retry-after': '60' });
    expect((await send()).status).toBe(200);
    first.respond = respondOk;
    await send();
    expect(requestCounts()).toEqual([1, 2]);
    await send(hers);
    expect(requestCounts()).toEqual([2, 2]);
    await send(target.key, 'other-embedding');
    expect(requestCounts()).toEqual([3, 2]);
    skew += 60_000;
    await send();
    expect(requestCounts()).toEqual([4, 2]);
    expect(health()?.state).toBe('healthy');
  });

  test('rejects a call with the shortest retry-after and no charge when both throttle', async () => {
    const { key, id } = await makeKey(target, { quota: 1_000 });
    first.respond = respondWithError(429, { 'retry-after': new Date(Date.now() + 40_000).toUTCString() });
    second.respond = respondWithError(429, { 'retry-after': '9000' });
    const refused = await send(key);
    expect(refused.status).toBe(429);
    const retried = await send(key);
    expect([retried.status, requestCounts()]).toEqual([429, [1, 1]]);
    for (const { headers } of [refused, retried]) {
      const seconds = Number(headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(40);
    }
    expect(await remainingQuota(target, id)).toBe(1_000);
  });

  test('starts no cool-down for invalid requests', async () => {
    first.respond = respondWithError(400);
    for (let times = 0; times < 10; times += 1) {
      skew += 1_500;
      expect((await send()).status).toBe(400);
    }
    expect([health()?.state, requestCounts()]).toEqual(['healthy', [10, 0]]);
  });

  test('counts unusable responses as failures of the channel', async () => {
    first.respond = (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
    for (let times = 0; times < 5; times += 1) {
      skew += 1_500;
      expect((await send()).status).toBe(502);
    }
    expect([health()?.state, health()?.figures.failures.invalid_response]).toEqual(['resting', 5]);
    expect((await send()).status).toBe(200);
  });

  test('sends requests although both channels are in cool-down, and a success ends it', async () => {
    first.respond = respondWithError(500);
    second.respond = respondWithError(500);
    for (let episode = 0; episode < 3; episode += 1) {
      skew += 1_500;
      expect((await send()).status).toBe(502);
    }
    expect(health()?.state).toBe('resting');
    first.respond = respondOk;
    expect((await send()).status).toBe(200);
    expect(health()?.state).toBe('healthy');
  });
});

describe('a request that must not run twice', () => {
  const voice = {
    model: 'voice-enrollment',
    input: {
      action: 'create_voice',
      target_model: 'voxa-v2',
      prefix: 'anna',
      url: 'https://files.example/a.wav',
    },
  };
  const asset = { url: 'https://files.example/a.png', asset_type: 'Image' };
  const session = { callback_url: 'https://app.example/verified' };
  const video = { model: 'gamma3.0-video', input: { prompt: 'A boat.' } };
  /** The provider's response with a new id, by protocol. */
  const createdBody = (id: number) => ({
    native: {
      output: { voice_id: `voxa-v2-anna-${id}`, task_id: `t${id}`, task_status: 'PENDING' },
      usage: { count: 1 },
    },
    official: { code: 0, data: { Id: `asset-20260301120000-${id}` } },
    verification: {
      success: true,
      data: { session_id: `vs_${id}`, h5_link: 'https://h5.example/', status: 'pending' },
    },
  });
  const kinds = [
    ['a voice', 'native', '/api/v1/services/audio/tts/customization', voice],
    ['a task', 'native', '/api/v1/services/aigc/video-generation/video-synthesis', video],
    ['an asset', 'official', '/api/assets/upload', asset],
    ['a session', 'verification', '/api/resource-channel/vendorx/visual-validate/sessions', session],
  ] as const;

  test('fails over only if the first channel certainly did not begin it', async () => {
    const first = await startScripted();
    const second = await startScripted();
    const protocols = ['native', 'official', 'verification'] as const;
    const channels = protocols.flatMap((protocol) => [
      channelTo(first.url, { name: `first-${protocol}`, protocol, priority: 9 }),
      channelTo(second.url, { name: `second-${protocol}`, protocol }),
    ]);
    const target = await startTestGateway({ sandbox: false, channels });
    opened.push(target);
    let count = 0;
    const seen = async (respond: ScriptedUpstream['respond']) => {
      first.respond = respond;
      // Later assets of a user use the channel of the first one.
      const user = { name: 'one', group: 'default', now: 1 };
      const { id: userId } = await target.gateway.store.run('createUser', user);
      const { key } = await makeKey(target, { quota: 1_000_000, userId });
      const received = [];
      for (const [title, protocol, path, body] of kinds) {
        for (const { health } of target.gateway.channels.all) health.reset();
        first.seen.length = 0;
        second.seen.length = 0;
        second.respond = (response) => {
          const headers = { 'content-type': 'application/json' };
          response.writeHead(200, headers).end(JSON.stringify(createdBody((count += 1))[protocol]));
        };
        const { status } = await post(target.url, key, path, body);
        received.push([title, status === 200, first.changes().length, second.changes().length]);
      }
      return received;
    };
    const each = (...outcome: unknown[]) => kinds.map(([title]) => [title, ...outcome]);
    for (const status of [401, 402, 429, 503, 529])
      expect(await seen(respondWithError(status))).toEqual(each(true, 1, 1));
    const short = respondWithError(429, { 'retry-after': '40' });
    const long = respondWithError(429, { 'retry-after': '9000' });
    for (const [here, there] of [
      [short, long],
      [long, short],
    ] as const) {
      for (const { health } of target.gateway.channels.all) health.reset();
      first.respond = here;
      second.respond = there;
      for (let times = 0; times < 2; times += 1) {
        const { status, headers } = await post(target.url, target.key, kinds[1][2], video);
        expect([status, Number(headers.get('retry-after')) > 40]).toEqual([429, false]);
      }
    }
    for (const status of [500, 502, 504])
      expect(await seen(respondWithError(status))).toEqual(each(false, 1, 0));
    expect(await seen(breaks)).toEqual(each(false, 1, 0));
    await first.close();
    expect(await seen(respondOk)).toEqual(each(true, 0, 1));
  });
});

test('counts a broken realtime session as a failure of the channel, but not a closed one', async () => {
  const upstream = await startSocketUpstream({ opened: ({ socket }) => socket.close(1000) });
  opened.push(upstream);
  const channels = [channelTo(upstream.url, { name: 'first' })];
  const target = await startTestGateway({ sandbox: false, channels });
  opened.push(target);
  const figures = target.gateway.channels.named('first')?.health.figures;
  const session = async () => {
    const client = await connect(`${target.url}/v1/realtime?model=alpha3-tts-flash-realtime`, {
      key: target.key,
    });
    await client.closed;
  };
  await session();
  expect(figures?.failures.disconnected).toBe(0);
  upstream.script = { opened: ({ socket }) => socket.terminate() };
  await session();
  expect([figures?.failures.disconnected, figures?.requests, figures?.lastFailure?.kind]).toEqual([
    1,
    2,
    'disconnected',
  ]);
  await vi.waitFor(() => expect(figures?.inFlight).toBe(0));
});

test('starts a cool-down after repeated socket connection losses', async () => {
  const upstream = await startSocketUpstream({ opened: ({ socket }) => socket.terminate() });
  opened.push(upstream);
  const channels = [channelTo(upstream.url, { name: 'first' })];
  const target = await startTestGateway({ sandbox: false, channels }, 'sqlite', Date.now, undefined, timers);
  opened.push(target);
  const health = target.gateway.channels.named('first')?.health;
  const body = { model: 'voxa-v1', input: 'Hi.', voice: 'voxanna' };
  for (let times = 0; times < 5; times += 1) {
    skew += 1_500;
    expect((await post(target.url, target.key, '/v1/audio/speech', body)).ok).toBe(false);
  }
  expect(health?.figures.failures.disconnected).toBe(5);
  expect(health?.state).toBe('resting');
});
