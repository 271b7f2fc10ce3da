import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemTimers, type Timers } from '../../../server/lib/timers.ts';
import { acceptSockets, isSocketRequest } from './accept.ts';

/** Starts only the sockets of the mock, which is faster than the whole mock. */
export async function serveSockets(timers: Timers = systemTimers) {
  const server = createServer({ shouldUpgradeCallback: isSocketRequest }, (_, response) => {
    response.writeHead(404).end();
  });
  const closeSockets = acceptSockets(server, timers);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    /** URL without a trailing slash. */
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      closeSockets();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
