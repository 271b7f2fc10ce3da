import { afterEach, describe, expect, test } from 'vitest';
import { Channel } from '../../server/channels/channel.ts';
import { requestInTurn } from '../../server/channels/failover.ts';
import { openSocketInTurn } from '../../server/channels/socket.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { startSocketUpstream } from '../support/socket-upstream.ts';
import { channelTo, startUpstream } from '../support/upstream.ts';

const logger = createLogger('silent');
const { signal } = new AbortController();
const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

/** Times that a channel must fail in a row before it is left out, each of them later than the one before. */
const tolerated = 3;
const apart = 1_000;
let now = 0;

describe('what a channel answers', () => {
  test.each([
    [401, true],
    [403, true],
    [429, true],
    [500, false],
    [503, false],
  ])('%i again and again leaves it healthy: %s', async (status, healthy) => {
    const upstream = await startUpstream((_request, response) => void response.writeHead(status).end());
    const channel = new Channel(channelTo(upstream.url), () => now);
    opened.push(channel, upstream);
    for (let times = 0; times < tolerated; times += 1) {
      now += apart;
      const { response } = await requestInTurn(
        [channel],
        () => ({ method: 'POST', path: '/x', signal }),
        logger,
      );
      await response.body.dump();
    }
    expect(channel.health.healthy).toBe(healthy);
  });

  test.each([
    [401, true],
    [403, true],
    [429, true],
    [500, false],
  ])('%i to a handshake again and again leaves it healthy: %s', async (status, healthy) => {
    const upstream = await startSocketUpstream();
    upstream.refuse = status;
    const channel = new Channel(channelTo(upstream.url), () => now);
    opened.push(channel, upstream);
    for (let times = 0; times < tolerated; times += 1) {
      now += apart;
      const request = { path: '/api-ws/v1/realtime', model: 'm', signal } as const;
      await expect(openSocketInTurn([channel], request, logger)).rejects.toThrow('provider');
    }
    expect(channel.health.healthy).toBe(healthy);
  });
});

test('no more than three accounts are asked for one request, or for one socket', async () => {
  const upstream = await startUpstream((_request, response) => void response.writeHead(500).end());
  const sockets = await startSocketUpstream();
  sockets.refuse = 500;
  const four = (url: string) =>
    Array.from({ length: 4 }, (_, index) => new Channel(channelTo(url, { name: `c${index}` }), () => now));
  const [calls, connections] = [four(upstream.url), four(sockets.url)];
  opened.push(...calls, ...connections, upstream, sockets);
  const { response, channel } = await requestInTurn(
    calls,
    () => ({ method: 'POST', path: '/x', signal }),
    logger,
  );
  await response.body.dump();
  expect([channel.name, upstream.seen.length]).toEqual(['c2', 3]);
  const request = { path: '/api-ws/v1/realtime', model: 'm', signal } as const;
  await expect(openSocketInTurn(connections, request, logger)).rejects.toMatchObject({ status: 502 });
  for (let times = 1; times < tolerated; times += 1) {
    now += apart;
    for (const { health } of connections) health.begin().failed('unreachable');
  }
  expect(connections.map(({ health }) => health.healthy)).toEqual([false, false, false, true]);
});
