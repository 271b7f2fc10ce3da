import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, test, vi } from 'vitest';
import { Channel } from '../../server/channels/channel.ts';
import { outboundAgent } from '../../server/outbound/open-url.ts';
import { sendRequest } from '../../server/outbound/send-request.ts';
import { channelTo } from '../support/upstream.ts';

const { signal } = new AbortController();
let server: Server;
let origin: string;

beforeAll(async () => {
  server = createServer((_request, response) => response.end('{}'));
  // Sent as the `keep-alive` header of every response.
  server.keepAliveTimeout = 600_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const throughAgent = (keepAliveTimeout?: number) => {
  const agent = outboundAgent({
    allowPrivate: true,
    agent: keepAliveTimeout === undefined ? {} : { keepAliveTimeout },
  });
  return {
    get: async () => (await sendRequest(agent, { origin, path: '/', method: 'GET' }, signal)).body,
    close: () => agent.destroy(),
  };
};
const throughChannel = () => {
  const channel = new Channel(channelTo(origin), Date.now);
  return {
    get: async () => (await channel.request({ method: 'GET', path: '/', user: 1, signal })).body,
    close: () => channel.close(),
  };
};

test.each([
  ['a channel', 30_000, throughChannel],
  ['files', 10_000, () => throughAgent(10_000)],
  ['other URLs', 4_000, () => throughAgent()],
])(
  'closes an idle connection of %s after %i ms despite a longer keep-alive header',
  async (_, limit, open) => {
    const { get, close } = open();
    try {
      const connected = once(server, 'connection');
      const body = await get();
      const [connection] = await connected;
      const closed = once(connection, 'close');
      await body.dump();
      // The connection becomes idle after pending callbacks.
      await new Promise((resolve) => setImmediate(resolve));
      vi.advanceTimersByTime(limit);
      await closed;
    } finally {
      await close();
    }
  },
);
