import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { Channel } from '../../server/channels/channel.ts';
import { requestWithFailover } from '../../server/channels/failover.ts';
import { openSocketWithFailover } from '../../server/channels/socket.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { startSocketUpstream } from '../support/socket-upstream.ts';
import { channelTo, startUpstream } from '../support/upstream.ts';

const logger = createLogger('silent');
const { signal } = new AbortController();
const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

/** Consecutive failure episodes that start a cool-down, and the time between two of them. */
const maxEpisodes = 3;
const episodeMs = 1_000;
let now = 0;

/** Sends one request for each user to a channel whose provider answers with a status and a body. */
async function stateAfter(status: number, body: string, users: readonly number[]) {
  const upstream = await startUpstream((_request, response) => void response.writeHead(status).end(body));
  const channel = new Channel(channelTo(upstream.url), () => now);
  opened.push(channel, upstream);
  for (const user of users) {
    now += episodeMs;
    const { response } = await requestWithFailover(
      [channel],
      () => ({ method: 'POST', path: '/x', signal }),
      logger,
      { user },
    );
    await response.body.dump();
  }
  return [channel.health.isHealthy, channel.health.figures.lastFailure?.kind];
}

const codes = (code: string) => JSON.stringify({ code, message: 'x' });
const types = (type: string) => JSON.stringify({ type: 'error', error: { type, message: 'x' } });

describe('a refusal', () => {
  test.each([
    [401, ''],
    [401, '<html>'],
    [401, codes('InvalidApiKey')],
    [401, types('authentication_error')],
    [401, 'x'.repeat(100_000)],
    [402, types('billing_error')],
    [403, codes('AccessDenied')],
    [403, codes('AccountOverdueError')],
    [403, types('permission_error')],
  ])('%i %.40s concerns the account and starts a cool-down at once', async (status, body) => {
    expect(await stateAfter(status, body, [1])).toEqual([false, 'key_refused']);
  });

  test.each([
    [401, codes('InvalidParameter.DownloadFailed')],
    [403, ''],
    [403, '<html>'],
    [403, '[1]'],
    [403, codes('DataInspectionFailed')],
    [403, codes('Model.AccessDenied')],
    [403, JSON.stringify({ code: 403, error: { code: 7 } })],
    [403, types('content_policy_violation')],
  ])('%i %.40s may concern the request, so that one user cannot start a cool-down', async (status, body) => {
    expect(await stateAfter(status, body, Array(maxEpisodes + 2).fill(1))).toEqual([true, 'forbidden']);
    expect(await stateAfter(status, body, [1, 2, 1])).toEqual([false, 'forbidden']);
  });
});

test('the log states which failure has started a cool-down', async () => {
  const lines: object[] = [];
  const log = pino({ base: null, timestamp: false }, { write: (line) => lines.push(JSON.parse(line)) });
  const upstream = await startUpstream((_request, response) => void response.writeHead(401).end());
  const channel = new Channel(channelTo(upstream.url), () => now, undefined, undefined, undefined, log);
  opened.push(channel, upstream);
  await requestWithFailover([channel], () => ({ method: 'POST', path: '/x', signal }), log);
  const about = { level: 40, channel: 'recording' };
  expect(lines).toEqual([
    { ...about, reason: 'key_refused', seconds: 5, msg: 'the channel is in a cool-down' },
    { ...about, status: 401, failure: 'key_refused', msg: 'upstream failed' },
  ]);
});

describe('a channel that repeatedly responds with', () => {
  test.each([
    [400, true],
    [429, true],
    [500, false],
    [503, false],
  ])('%i stays healthy: %s', async (status, healthy) => {
    const [isHealthy] = await stateAfter(status, '', Array(maxEpisodes).fill(1));
    expect(isHealthy).toBe(healthy);
  });

  test.each([
    [401, false],
    [403, true],
    [429, true],
    [500, false],
  ])('%i to a handshake stays healthy: %s', async (status, healthy) => {
    const upstream = await startSocketUpstream();
    upstream.refuse = status;
    const channel = new Channel(channelTo(upstream.url), () => now);
    opened.push(channel, upstream);
    for (let times = 0; times < maxEpisodes; times += 1) {
      now += episodeMs;
      const request = { path: '/api-ws/v1/realtime', model: 'm', signal } as const;
      await expect(openSocketWithFailover([channel], request, logger)).rejects.toThrow('provider');
    }
    expect(channel.health.isHealthy).toBe(healthy);
  });
});

test('sends one request, or opens one socket, on at most three channels', async () => {
  const upstream = await startUpstream((_request, response) => void response.writeHead(500).end());
  const sockets = await startSocketUpstream();
  sockets.refuse = 500;
  const four = (url: string) =>
    Array.from({ length: 4 }, (_, index) => new Channel(channelTo(url, { name: `c${index}` }), () => now));
  const [calls, connections] = [four(upstream.url), four(sockets.url)];
  opened.push(...calls, ...connections, upstream, sockets);
  const { response, channel } = await requestWithFailover(
    calls,
    () => ({ method: 'POST', path: '/x', signal }),
    logger,
  );
  await response.body.dump();
  expect([channel.name, upstream.seen.length]).toEqual(['c2', 3]);
  const request = { path: '/api-ws/v1/realtime', model: 'm', signal } as const;
  await expect(openSocketWithFailover(connections, request, logger)).rejects.toMatchObject({ status: 502 });
  for (let times = 1; times < maxEpisodes; times += 1) {
    now += episodeMs;
    for (const { health } of connections) health.startAttempt().fail('unreachable');
  }
  expect(connections.map(({ health }) => health.isHealthy)).toEqual([false, false, false, true]);
});
