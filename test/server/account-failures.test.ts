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

describe('a channel that repeatedly responds with', () => {
  test.each([
    [401, true],
    [403, true],
    [429, true],
    [500, false],
    [503, false],
  ])('%i stays healthy: %s', async (status, healthy) => {
    const upstream = await startUpstream((_request, response) => void response.writeHead(status).end());
    const channel = new Channel(channelTo(upstream.url), () => now);
    opened.push(channel, upstream);
    for (let times = 0; times < maxEpisodes; times += 1) {
      now += episodeMs;
      const { response } = await requestWithFailover(
        [channel],
        () => ({ method: 'POST', path: '/x', signal }),
        logger,
      );
      await response.body.dump();
    }
    expect(channel.health.isHealthy).toBe(healthy);
  });

  test.each([
    [401, true],
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
